"""Progress of reading a file: a bar on a terminal, a line for every 10 % elsewhere."""

from __future__ import annotations

from typing import BinaryIO, TextIO

WIDTH = 30


class Progress:
    """Read from `file`, and print to `out` which share of `size` bytes was read. An empty file: nothing."""

    def __init__(self, file: BinaryIO, label: str, size: int, out: TextIO) -> None:
        self.file, self.what, self.size, self.out = file, label, size, out
        self._read = 0
        self._printed = 0
        self._step = 1 if out.isatty() else 10

    def read(self, size: int) -> bytes:
        chunk = self.file.read(size)
        self._read += len(chunk)
        percent = min(100, 100 * self._read // self.size) if self.size else 0
        if percent >= self._printed + self._step:
            self._printed = percent - percent % self._step
            self._print(percent)
        return chunk

    def _print(self, percent: int) -> None:
        if not self.out.isatty():
            self.out.write(f"{self.what}: {self._printed} %\n")
        else:
            filled = WIDTH * percent // 100
            bar = "#" * filled + "." * (WIDTH - filled)
            self.out.write(f"\r{self.what} [{bar}] {percent:3} %" + ("\n" if percent == 100 else ""))
        self.out.flush()
