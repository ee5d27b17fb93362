"""A `Filesystem` on a real directory, for tests; the product's own is `sessions.worktree`."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from controlplane.policy.paths.filesystem import Location, ResolvedPath, UnknownFilesystem


class LocalFilesystem(UnknownFilesystem):
    def __init__(self, root: Path):
        self.root = root.resolve()

    def resolve(self, path: str) -> ResolvedPath:
        at, waiting, links = self.root, [s for s in reversed(path.split("/")) if s not in {"", "."}], 0
        while waiting:
            segment = waiting.pop()
            if segment == "..":
                at = at.parent
                continue
            step = at / segment
            if not step.is_symlink():
                at = step
                continue
            links += 1
            if links > 40:
                return ResolvedPath(Location.LOOP)
            target = str(step.readlink())
            at = Path("/") if target.startswith("/") else at
            waiting.extend(s for s in reversed(target.split("/")) if s not in {"", "."})
        if not at.is_relative_to(self.root):
            return ResolvedPath(Location.OUTSIDE)
        inside = at.relative_to(self.root).as_posix()
        return ResolvedPath(Location.INSIDE, "" if inside == "." else inside)

    def resolve_outside(self, path: str) -> str | None:
        return os.path.realpath(path) if path.startswith("/") else None

    def exists(self, path: str) -> bool | None:
        return os.path.lexists(self.root / path)

    def is_dir(self, path: str) -> bool | None:
        return (self.root / path).is_dir()

    def list_files(self, path: str):
        return [file.relative_to(self.root).as_posix() for file in (self.root / path).rglob("*")]

    def list_names(self, path: str):
        folder = self.root / path
        return [entry.name for entry in folder.iterdir()] if folder.is_dir() else []

    def list_links(self, path: str):
        return [name for name in self.list_files(path) if (self.root / name).is_symlink()]

    def read_text(self, path: str):
        file = self.root / path
        return file.read_text() if file.is_file() else None

    def content_hash(self, path: str) -> str | None:
        file = self.root / path
        if not os.path.lexists(file):
            return ""
        return "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
