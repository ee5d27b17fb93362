"""Gemini CLI as an editor runs it, where it asks no hook: behind `icp.py acp` its questions are the gate's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents import clients
from tests.agents.model import Step
from tests.agents.walk import PROMPT, TEXT, Walk
from tests.client.acp_editor import Editor

pytestmark = pytest.mark.agents


class AcpWalk(Walk):
    """A walk in which a scripted editor stands where the terminal does."""

    def open(self, *before: str) -> Editor:
        _, own = self.row.start(self.machine, self.model.url)
        env = own | {"HOME": str(self.machine.home), "PATH": clients.path(), "LANG": "C.UTF-8"}
        agent = [str(clients.MODULES / ".bin" / "gemini"), "--acp", "-m", "gemini-2.5-pro"]
        editor = Editor([*before, *agent], self.machine.repository, env)
        editor.answers = {
            "session/request_permission": choose,
            "fs/write_text_file": write,
            "fs/read_text_file": read,
        }
        editor.open(fs={"readTextFile": True, "writeTextFile": True})
        return editor


def choose(params):
    """A person who allows what the gate does, and rejects what it asks about."""
    kind = "reject_once" if "A person must approve it" in params["toolCall"]["title"] else "allow_once"
    chosen = next(option for option in params["options"] if option["kind"] == kind)
    return {"outcome": {"outcome": "selected", "optionId": chosen["optionId"]}}


def write(params):
    file = Path(params["path"])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(params["content"])
    return {}


def read(params):
    file = Path(params["path"])
    return {"content": file.read_text() if file.exists() else ""}


def test_gemini_in_acp_mode_is_held_to_its_intent(server, tmp_path):
    walk = AcpWalk(tmp_path, server, "gemini-cli", server.workspace("gemini-acp"))
    handshake = clients.tool("gemini-cli", "select_active_intent", intent_id="INT-001")
    walk.model.script = {
        PROMPT: [
            Step("before the handshake", walk.write("src/auth/early.ts")),
            Step("handshake", handshake),
            Step("in scope", walk.write("src/auth/a.ts")),
            Step("out of scope", walk.write("docs/design.md")),
            Step("out of scope by the shell", walk.row.shell("echo x > docs/design.md")),
        ]
    }
    with walk.model:
        editor = walk.open(str(walk.machine.config / "bin" / "icp.py"), "acp", "--")
        editor.prompt(PROMPT)
        editor.close()
    assert "INT-001" in walk.told["handshake"], walk.told
    for step in ("before the handshake", "out of scope", "out of scope by the shell"):
        assert "was canceled" in walk.told[step], walk.told
    assert "Scope Violation: INT-001" in str(editor.asked)
    assert not walk.there("src/auth/early.ts")
    assert not walk.there("docs/design.md")
    assert (walk.machine.repository / "src/auth/a.ts").read_text() == TEXT
    _, traces = server.api(walk.tokens["reviewer"], "GET", "traces?path=src/auth/a.ts")
    assert len(traces["results"]) == 1
