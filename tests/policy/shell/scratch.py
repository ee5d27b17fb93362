"""A small workspace in a temporary directory, to compare what a shell does with what the analysis says."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.shell import analyse
from controlplane.policy.shell.shells import SHELLS_BY_NAME
from tests.policy.shell import strace
from tests.programs import require

if TYPE_CHECKING:
    from pathlib import Path

    from controlplane.policy.shell import ShellAnalysis, ShellPath

FILES = {
    "src/auth/a.ts": "one\n",
    "src/auth/b.ts": "two\n",
    "src/b.txt": "b\na\n",
    "docs/g.md": "# g\n",
    "top.txt": "x\ny\n",
    "v1.d/in.txt": "i\n",
}
FOLDERS = ("empty",)


# A command that reads what it writes (`grep -r x . >> file`) would fill disk and memory within its seconds.
BOUNDED = ("prlimit", "--fsize=1048576")
# Each without the user's own files: what an alias or an option there changes, no analysis can know.
SHELLS = {
    "bash": ("bash", "-c"),
    "dash": ("dash", "-c"),
    "zsh": ("zsh", "-f", "-c"),
}


class Scratch:
    """`root` is the workspace; next to it stand a home and a directory outside of the workspace."""

    def __init__(self, base: Path, shell: str = "bash"):
        if shutil.which(shell) is None:
            require(f"{shell} is missing: install the Debian package {shell}")
        self.shell = shell
        self.base = base.resolve()
        self.root = self.base / "ws"
        self.lay_out()

    def lay_out(self):
        shutil.rmtree(self.base, ignore_errors=True)
        for name, text in FILES.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        for name in FOLDERS:
            (self.root / name).mkdir()
        (self.base / "outside").mkdir()
        (self.base / "home").mkdir()

    def filesystem(self):
        return DirectoryFilesystem(self.root)

    def analyse(self, command: str) -> ShellAnalysis:
        shells = SHELLS_BY_NAME[self.shell]
        return analyse(command, root=str(self.root), filesystem=self.filesystem(), shells=shells)

    def _run_as(self, command: str) -> list[str]:
        return [*BOUNDED, *SHELLS[self.shell], command]

    def changed_by(self, command: str) -> set[str]:
        """Return the absolute paths that differ after the shell has run the command, and restore the tree."""
        before = self._snapshot()
        subprocess.run(
            self._run_as(command),
            cwd=self.root,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
        after = self._snapshot()
        if before != after:
            self.lay_out()
        return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}

    def written_by(self, command: str) -> set[str]:
        """Return the absolute paths that the shell asked the kernel to change, and restore the tree."""
        found = strace.written_by(self._run_as(command), self.root, self._env)
        inside = {path for path in found if path.startswith(f"{self.base}/")}
        if inside:
            self.lay_out()
        return inside

    @property
    def _env(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.base / "home"), "LANG": "C.UTF-8"}

    def missed(self, command: str, analysis: ShellAnalysis) -> set[str]:
        """Return what the shell changed and the analysis did not report."""
        return self._not_reported(self.changed_by(command), analysis)

    def missed_in_trace(self, command: str, analysis: ShellAnalysis) -> set[str]:
        """Return what the shell asked the kernel to change and the analysis did not report."""
        return self._not_reported(self.written_by(command), analysis)

    def _not_reported(self, paths: set[str], analysis: ShellAnalysis) -> set[str]:
        reported = [(self.absolute(path), path.recursive) for path in analysis.writes]
        return {
            path
            for path in paths
            if not any(
                path == name or (recursive and path.startswith(name + "/")) for name, recursive in reported
            )
        }

    def absolute(self, path: ShellPath) -> str:
        raw = str(self.base / "home") + path.raw[1:] if path.raw.startswith("~") else path.raw
        return os.path.normpath(self.root / path.cwd / raw)

    def _snapshot(self):
        return {str(path): _state(path) for path in self.base.rglob("*")}


def _state(path: Path):
    mode = path.lstat().st_mode
    if path.is_symlink():
        return ("link", path.readlink())
    return (mode, path.read_bytes() if path.is_file() else None)


class DirectoryFilesystem(UnknownFilesystem):
    """A `Filesystem` on a directory, as far as the shell analysis asks."""

    def __init__(self, root: Path):
        self.root = root

    def is_dir(self, path):
        return (self.root / path).is_dir()

    def list_files(self, path):
        files = (file for file in (self.root / path).rglob("*") if file.is_file())
        return [file.relative_to(self.root).as_posix() for file in files]

    def list_names(self, path):
        return [entry.name for entry in (self.root / path).iterdir()] if self.is_dir(path) else []

    def list_links(self, path):
        links = (name for name in (self.root / path).rglob("*") if name.is_symlink())
        return [link.relative_to(self.root).as_posix() for link in links]

    def exists(self, path):
        return os.path.lexists(self.root / path)
