"""Every client with every fault, for real: `python -m tests.client.fail_closed` writes docs/fail-closed.md.

The hook runs as the client runs it (its configured command in a shell; for a plugin the program it starts). What
the client then does is known from driving it: `RULES` says it for each, from status, stdout and stderr.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from controlplane.client.agents import CLIENTS, find_refusal
from controlplane.client.config.hook_entries import build_entries
from tests.client.machine import FAULTS, Machine, Stub

DOCUMENT = Path(__file__).parents[2] / "docs" / "fail-closed.md"
RUNS, SILENT, TOLD = "**runs**", "refused", "refused, told"

TITLES = {
    "down": "server down",
    "slow": "server slower than the hook's time",
    "error": "server answers 500",
    "token": "token unknown or revoked",
    "html": "answer is not JSON (a captive portal)",
    "elsewhere": "answer is JSON, of something else",
    "list": "answer is JSON, but no object",
    "empty": "answer is empty",
    "cut": "connection cut in the answer",
    "payload": "the client's payload is not JSON",
    "unconnected": "repository not connected",
    "python": "Python is gone",
    "program": "hook client's file is broken",
    "launcher": "hook client is gone",
    "silent_1": "hook ends with 1, without a word",
    "silent_2": "hook ends with 2, without a word",
    "interrupted": "hook dies by SIGINT",
    "pipe": "hook dies by SIGPIPE",
    "killed": "hook dies by SIGKILL",
}


def dying_by(name: str) -> str:
    """A hook that a signal ends, whatever the shell around it ignores."""
    kill = f"import os, signal; signal.signal(signal.{name}, signal.SIG_DFL); os.kill(os.getpid(), signal.{name})"
    if name == "SIGKILL":
        kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    return f"#!{sys.executable} -IS\n{kill}\n"


BREAKS: dict[str, Callable[[Machine], object]] = {
    "unconnected": lambda machine: (machine.config / "connections.json").unlink(),
    "python": lambda machine: machine.launcher.write_text("#!/nonexistent/python -IS\n"),
    "program": lambda machine: (machine.config / "icp_hook.py").write_text("def"),
    "launcher": lambda machine: machine.launcher.unlink(),
    "silent_1": lambda machine: machine.launcher.write_text("#!/bin/sh\nexit 1\n"),
    "silent_2": lambda machine: machine.launcher.write_text("#!/bin/sh\nexit 2\n"),
    "interrupted": lambda machine: machine.launcher.write_text(dying_by("SIGINT")),
    "pipe": lambda machine: machine.launcher.write_text(dying_by("SIGPIPE")),
    "killed": lambda machine: machine.launcher.write_text(dying_by("SIGKILL")),
}

Rule = Callable[[int, dict, str], str]


def by_json(status: int, answer: dict, stderr: str, *, others: str) -> str:
    """Deny JSON counts whatever the status; `others` is what becomes of a status other than 0 and 2."""
    if find_refusal(answer):
        return TOLD
    if status == 2 and stderr:
        return TOLD
    return others if status else RUNS


def codex(status: int, answer: dict, stderr: str) -> str:
    return TOLD if (status == 2 and stderr) or (status == 0 and find_refusal(answer)) else RUNS


def copilot(status: int, answer: dict, stderr: str) -> str:
    """Any failure refuses, but only JSON with status 0 reaches the model."""
    if status:
        return SILENT
    return TOLD if find_refusal(answer) else RUNS


def cursor(status: int, answer: dict, stderr: str) -> str:
    """With `failClosed` whatever is no answer refuses."""
    return TOLD if status == 0 and find_refusal(answer) else RUNS if status == 0 and answer else SILENT


def windsurf(status: int, answer: dict, stderr: str) -> str:
    return TOLD if status == 2 and stderr else RUNS


def plugin(status: int, answer: dict, stderr: str) -> str:
    """It throws where the hook fails or says nothing, and the error's text is the tool's result."""
    return TOLD if status or not answer or find_refusal(answer) else RUNS


RULES: dict[str, Rule] = {
    "claude-code": lambda *seen: by_json(*seen, others=SILENT),
    "codex": codex,
    "gemini-cli": lambda *seen: by_json(*seen, others=RUNS),
    "qwen-code": lambda *seen: by_json(*seen, others=RUNS),
    "copilot": copilot,
    "cursor": cursor,
    "windsurf": windsurf,
    "opencode": plugin,
    "kilo": plugin,
    "cline": plugin,
}


def outcome(agent: str, fault: str, url: str, folder: Path) -> str:
    machine = Machine(folder)
    machine.connect(agent, "http://127.0.0.1:9" if fault == "down" else f"{url}/{fault}")
    BREAKS.get(fault, lambda _: None)(machine)
    payload = "{" if fault == "payload" else '{"session_id": "s-1"}'
    env = {"ICP_DEADLINE_SECONDS": "0.6"} if fault == "slow" else {}
    done = machine.run("sh", "-c", command_of(agent), given=payload, **env)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {}
    return RULES[agent](done.returncode, answer, done.stderr.strip())


def command_of(agent: str) -> str:
    """The configured command before a tool; of a plugin, the program that it starts."""
    gate = CLIENTS[agent].gates.split()[0]
    if CLIENTS[agent].entry is None:
        return f'"$HOME/.config/icp/hook" {agent} {gate}'
    entry = build_entries(agent)[gate]
    inner = entry["hooks"][0] if "hooks" in entry else entry
    return inner.get("command") or inner["bash"]


def matrix() -> dict[str, dict[str, str]]:
    """{fault: {agent: outcome}}"""
    with Stub() as stub, tempfile.TemporaryDirectory() as folder:
        made: dict[str, dict[str, str]] = {}
        for fault in TITLES:
            for agent in CLIENTS:
                place = Path(folder) / f"{fault}-{agent}"
                place.mkdir()
                made.setdefault(fault, {})[agent] = outcome(agent, fault, stub.url, place)
        return made


def document(found: dict[str, dict[str, str]]) -> str:
    head = ["fault", *CLIENTS]
    rows = [[TITLES[fault], *cells.values()] for fault, cells in found.items()]
    table = [head, ["---"] * len(head), *rows]
    return OPENING + "\n".join(f"| {' | '.join(row)} |" for row in table) + "\n" + CLOSING


OPENING = """# When something fails

Before a tool, the hook client (`icp.py`) turns whatever goes wrong into the client's own denial. This table is
made by a test that breaks each thing and runs the configured command; `python -m tests.client.fail_closed` writes
it, and the tests fail while it is not current.

"Refused, told": the tool does not run, and the model reads why. "Refused": the tool does not run, and the client
gives a reason of its own. What a client makes of an exit status and an output is known from driving the real one
(Cursor: from its shipped hook engine; Windsurf: from its documentation), in the versions that
[connect an agent](connect-an-agent.md) names.

"""
CLOSING = """
The entry's shell speaks for a hook that ends without a word: Codex, Gemini CLI and Qwen Code run the tool on an exit
status 2 with nothing on stderr.

Not in the table, because no hook can answer for it: a hook that is killed together with the shell that started it
(Claude Code with `onFailure` and Cursor with `failClosed` refuse then, the others run the tool), a hook that someone
replaced by a program that says yes, and configuration that the client does not load. `icp.py doctor` tells whether the
configuration is whole and whether a canary is denied; the server's log tells sessions that record changes without asking the gate.
"""

if __name__ == "__main__":
    assert set(FAULTS) <= set(TITLES)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    DOCUMENT.write_text(document(matrix()), encoding="utf-8")
