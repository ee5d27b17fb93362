"""The hooks of two peers for Claude Code, installed in a scratch folder, to be timed beside ours.

Both judge on this machine alone: cc-safety-net (npm) in one Node.js process, HOL Guard (PyPI) by a native
program that asks a daemon it keeps running. Neither asks a server or records for a team, which ours does.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NPM, PYPI = "cc-safety-net@2.4.5", "hol-guard==3.57.0"
ROUNDS = 5
QUIET = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]


@contextmanager
def peers(folder: Path, tool: str, env: dict[str, str]) -> Iterator[dict[str, list[str]]]:
    """{name: command of the hook before `tool`}. `env` has the scratch home. SystemExit without them."""
    folder.mkdir()
    try:
        yield {"cc_safety_net": safety_net(folder), "hol_guard": hol_guard(folder, tool, env)}
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"The peers cannot be installed: {error}. It takes npm, and both registries."
        ) from error
    finally:
        end_what_runs_in(folder)


def safety_net(folder: Path) -> list[str]:
    silently(["npm", "install", *QUIET, NPM], folder, dict(os.environ))
    return [str(folder / "node_modules/.bin/cc-safety-net"), "hook", "--claude-code"]


def hol_guard(folder: Path, tool: str, env: dict[str, str]) -> list[str]:
    """What its own installer writes into Claude Code's settings."""
    silently([sys.executable, "-m", "venv", "venv"], folder, dict(os.environ))
    silently(["venv/bin/pip", "install", "--quiet", PYPI], folder, dict(os.environ))
    silently(["venv/bin/hol-guard", "install", "claude-code"], folder, env)
    settings = json.loads((Path(env["HOME"]) / ".claude/settings.json").read_text())
    groups = settings["hooks"]["PreToolUse"]
    group = next(one for one in groups if re.fullmatch(one.get("matcher") or ".*", tool))
    return [group["hooks"][0]["command"], *group["hooks"][0].get("args", [])]


def silently(command: list[str], folder: Path, env: dict[str, str]) -> None:
    subprocess.run(command, cwd=folder, env=env, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def end_what_runs_in(folder: Path) -> None:
    """The daemon and what it starts anew, known by this folder's name in their commands."""
    for _ in range(ROUNDS):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if os.fsencode(folder) in (process / "cmdline").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                continue  # it has ended, or is the kernel's
        time.sleep(0.2)
