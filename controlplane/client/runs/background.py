"""Commands that go on in the background, and those that need a terminal: by their text, before they start."""

from __future__ import annotations

import os

from controlplane.client.runs.containment import ContainmentError
from controlplane.client.runs.effects import say

# Programs that do nothing without a terminal.
TERMINAL_PROGRAMS = frozenset(
    {"vi", "vim", "nvim", "nano", "pico", "emacs", "top", "htop", "screen", "tmux"}
)  # fmt: skip
LOG_FOLDER = "/tmp"  # the file in it is new, and readable by this user alone


def require_no_terminal(command: str) -> None:
    """Raise ContainmentError for a command that begins with a program which needs a terminal."""
    words = [word for word in command.split() if "=" not in word]
    program = os.path.basename(words[0]) if words else ""
    if program in TERMINAL_PROGRAMS:
        raise ContainmentError(f"{program} needs a terminal, and a contained command has none")


def is_for_background(command: str) -> bool:
    text = command.rstrip()
    return text.endswith("&") and not text.endswith("&&")


def detach(run_id: str) -> bool:
    """Go on in a process of its own, away from the caller's output. Return whether this is the caller's."""
    path = f"{LOG_FOLDER}/icp-{run_id}.log"
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    if os.fork():
        os.close(log)
        say(f"It runs in the background, contained. What it changes is judged when it ends. Output: {path}")
        return True
    os.setsid()
    null = os.open("/dev/null", os.O_RDONLY)
    for target, source in ((0, null), (1, log), (2, log)):
        os.dup2(source, target)
    return False
