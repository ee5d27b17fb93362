"""A command of each real agent that writes in scope and into docs/: the first lands, the second waits."""

from __future__ import annotations

import pytest

from controlplane.client.call_rewrite import REWRITES
from tests.agents.model import Step
from tests.agents.walk import Walk
from tests.client.runs.conftest import skip_uncontained

pytestmark = pytest.mark.agents
GENERATE = """
import pathlib
for name in ("src/auth/made.ts", "docs/made.md"):
    pathlib.Path(name).write_text("made\\n")
print("generated")
"""


@pytest.mark.parametrize("agent", REWRITES)
def test_what_a_command_changed_lands_or_waits_with_its_diff(server, tmp_path, agent):
    walk = Walk(tmp_path, server, agent, server.workspace(f"contained-{agent}"))
    if "commands are not contained" in walk.doctor:
        skip_uncontained(walk.doctor)
    (walk.machine.repository / "generate.py").write_text(GENERATE)
    walk.start(
        [
            Step("before the handshake", walk.write("src/auth/early.ts")),
            Step("contained", walk.row.shell("python3 generate.py"), walk.handshake),
            Step("approved", walk.row.shell("ls docs"), lambda: approve(walk)),
        ]
    )
    assert "generated" in walk.told["contained"], walk.output
    assert "src/auth/made.ts landed; docs/made.md waits for approval" in walk.told["contained"]
    assert (walk.machine.repository / "src/auth/made.ts").read_text() == "made\n"
    assert "made.md" in walk.told["approved"]
    assert (walk.machine.repository / "docs/made.md").read_text() == "made\n"
    _, listed = server.api(walk.tokens["reviewer"], "GET", "traces")
    paths = [file["relative_path"] for entry in listed["results"] for file in entry["files"]]
    assert sorted(paths) == ["docs/made.md", "src/auth/made.ts"]


def approve(walk: Walk) -> None:
    """Approve what waits: nothing of it is in the repository yet, and its diff is on the card."""
    assert not walk.there("docs/made.md")
    approval = walk.waiting()
    assert approval["kind"] == "run"
    status, answer = walk.server.api(
        walk.tokens["reviewer"], "POST", f"approvals/{approval['id']}/decide", {"action": "approve"}
    )
    assert status == 200, answer
