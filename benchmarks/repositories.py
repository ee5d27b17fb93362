"""A git repository with a past, made quickly: one file that many commits changed here and there."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

COMMITS, LINES = 80, 600
WHO = "pat <pat@localhost>"


def make_repository(folder: Path, path: str) -> None:
    """COMMITS commits that change a few of LINES lines each, the last of them checked out."""
    folder.mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for words, given in (
        (("init", "-q", "-b", "main"), b""),
        (("fast-import", "--quiet"), _stream(path)),
        (("reset", "-q", "--hard", "main"), b""),
    ):
        subprocess.run(["git", *words], cwd=folder, env=env, input=given, check=True)


def _stream(path: str) -> bytes:
    chance = random.Random(7)
    lines = [f"    value_{number} = call({number}, other)\n" for number in range(LINES)]
    said = []
    for number in range(COMMITS):
        for _ in range(4):
            at = chance.randrange(len(lines))
            lines[at : at + 2] = [f"    edit_{number}(\n", f"        {chance.random()},\n", "    )\n"]
        text = "".join(lines)
        said.append(
            f"commit refs/heads/main\nmark :{number + 1}\ncommitter {WHO} {1_700_000_000 + number} +0000\n"
            f"data 4\nwork\nM 644 inline {path}\ndata {len(text)}\n{text}\n"
        )
    return "".join(said).encode()
