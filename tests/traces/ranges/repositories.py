"""Small git repositories for tests, with commits at chosen times."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class Repo:
    """A repository in a folder. Commits are an hour apart, from the start of 2026 on, unless told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hours = 0
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, at: str = "") -> str:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        who = {
            f"GIT_{role}_{what}": f"pat{'@x' * (what == 'EMAIL')}"
            for role in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        when = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=env | who | when, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, path: str, text: str | bytes) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, path: str = "", text: str | bytes = "", *, at: str = "") -> str:
        """Commit all that is there, after writing this file; the commit's name."""
        if path:
            self.write(path, text)
        self.hours += 1
        self.git("add", "-A")
        self.git(
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "work",
            at=at or f"2026-01-{1 + self.hours // 24:02}T{self.hours % 24:02}:00:00Z",
        )
        return self.git("rev-parse", "HEAD")
