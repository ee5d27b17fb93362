"""How far a file has been read: a bar on a terminal, a line for every tenth anywhere else."""

from __future__ import annotations

from typing import BinaryIO, TextIO

WIDTH = 30


class Progress:
    """Reads from `file` and tells `out` how much of `size` bytes that was. An empty file tells nothing."""

    def __init__(self, file: BinaryIO, what: str, size: int, out: TextIO) -> None:
        self.file, self.what, self.size, self.out = file, what, size, out
        self._read = 0
        self._told = 0
        self._step = 1 if out.isatty() else 10

    def read(self, size: int) -> bytes:
        chunk = self.file.read(size)
        self._read += len(chunk)
        percent = min(100, 100 * self._read // self.size) if self.size else 0
        if percent >= self._told + self._step:
            self._told = percent - percent % self._step
            self._tell(percent)
        return chunk

    def _tell(self, percent: int) -> None:
        if not self.out.isatty():
            self.out.write(f"{self.what}: {self._told} %\n")
        else:
            done = WIDTH * percent // 100
            bar = "#" * done + "." * (WIDTH - done)
            self.out.write(f"\r{self.what} [{bar}] {percent:3} %" + ("\n" if percent == 100 else ""))
        self.out.flush()
