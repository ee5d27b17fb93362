"""`icp.py acp [--mode ID] [--decide-with FILE] -- AGENT …`: what an editor starts instead of an agent."""

from __future__ import annotations

import contextlib
import os
import sys

from controlplane.client.acp.modes import ModeRule
from controlplane.client.acp.proxy import Proxy, pump
from controlplane.client.acp.sessions import SessionTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

END_SECONDS = 3


def add_acp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", default="", help="The one mode to pin; it must ask before it acts.")
    parser.add_argument(
        "--decide-with", metavar="FILE", default="",
        help="Holds a reviewer's own token: what is chosen in the editor is then that reviewer's decision.",
    )  # fmt: skip
    parser.add_argument("agent", nargs="+", metavar="AGENT", help="The agent's command, behind --.")
    parser.set_defaults(run=serve_acp)


def serve_acp(options: argparse.Namespace) -> int:
    """Run the agent until it or the editor ends. Return its exit status."""
    import signal
    import subprocess
    import threading

    reviewer, over = read_reviewer_token(options.decide_with), threading.Event()
    agent = subprocess.Popen(  # noqa: S603  the agent of the editor's own configuration
        options.agent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    sessions = SessionTable(ModeRule(options.mode), options.agent[0])
    proxy = Proxy(sys.stdout.buffer, agent.stdin, sessions, reviewer)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: over.set())
    for stream, take in ((agent.stdout, proxy.from_agent), (sys.stdin.buffer, proxy.from_editor)):
        threading.Thread(target=pump_until_end, args=(stream, take, over), daemon=True).start()
    over.wait()
    sessions.end_all()
    return end_agent(agent)


def pump_until_end(stream: Any, take: Any, over: Any) -> None:
    pump(stream, take)
    over.set()


def end_agent(agent: Any) -> int:
    """End the agent with all that it has started. Return its exit status."""
    import signal
    import subprocess

    with contextlib.suppress(OSError):  # it has ended already
        agent.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if number is not None:
                os.killpg(agent.pid, number)
            agent.wait(END_SECONDS)
            break
    with contextlib.suppress(OSError):  # what it has left behind
        os.killpg(agent.pid, signal.SIGKILL)
    return int(agent.poll() or 0)


def read_reviewer_token(path: str) -> str:
    """Return the token in a file that only its owner can read. Raise OSError for any other file."""
    if not path:
        return ""
    with open(path, encoding="utf-8") as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise OSError(f"{path} can be read by others: chmod 600 {path}")
        return file.read().strip()
