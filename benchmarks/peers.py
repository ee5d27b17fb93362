"""Install two other hooks for Claude Code in a scratch folder, to time them next to the product's.

Both decide on this machine alone: cc-safety-net (npm) in one Node.js process, HOL Guard (PyPI) by a native
program that asks a daemon it keeps running. Neither asks a server nor records for a team. The product does.
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
NPM_OPTIONS = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]


@contextmanager
def install_peers(folder: Path, tool: str, env: dict[str, str]) -> Iterator[dict[str, list[str]]]:
    """Yield {name: command of the hook before `tool`}; `env` has the scratch home. Raise SystemExit when they
    cannot be installed."""
    folder.mkdir()
    try:
        yield {"cc_safety_net": install_safety_net(folder), "hol_guard": install_hol_guard(folder, tool, env)}
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"The peers cannot be installed: {error}. It takes npm, and both registries."
        ) from error
    finally:
        kill_processes(folder)


def install_safety_net(folder: Path) -> list[str]:
    run_quietly(["npm", "install", *NPM_OPTIONS, NPM], folder, dict(os.environ))
    return [str(folder / "node_modules/.bin/cc-safety-net"), "hook", "--claude-code"]


def install_hol_guard(folder: Path, tool: str, env: dict[str, str]) -> list[str]:
    """Return the command that its own installer writes into Claude Code's settings."""
    run_quietly([sys.executable, "-m", "venv", "venv"], folder, dict(os.environ))
    run_quietly(["venv/bin/pip", "install", "--quiet", PYPI], folder, dict(os.environ))
    run_quietly(["venv/bin/hol-guard", "install", "claude-code"], folder, env)
    settings = json.loads((Path(env["HOME"]) / ".claude/settings.json").read_text())
    groups = settings["hooks"]["PreToolUse"]
    group = next(each for each in groups if re.fullmatch(each.get("matcher") or ".*", tool))
    return [group["hooks"][0]["command"], *group["hooks"][0].get("args", [])]


def run_quietly(command: list[str], folder: Path, env: dict[str, str]) -> None:
    subprocess.run(command, cwd=folder, env=env, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def kill_processes(folder: Path) -> None:
    """Kill the daemon and what it restarts: processes with this folder's name in their command."""
    for _ in range(ROUNDS):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if os.fsencode(folder) in (process / "cmdline").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                continue  # it has ended, or is the kernel's
        time.sleep(0.2)
