"""A command through the installed hook, the served product and the walls: rewritten, run, judged, landed."""

from __future__ import annotations

import itertools
import json
import sys
import urllib.request
from zlib import crc32

import pytest

from tests.client.machine import Machine
from tests.client.runs.conftest import skip_uncontained

NUMBERS = itertools.count()  # of sessions


@pytest.fixture(scope="session")
def server(running_server):
    return running_server


@pytest.fixture(scope="module")
def tokens(server):
    return server.workspace("contained")


@pytest.fixture
def connected(tmp_path, server, tokens):
    machine = Machine(tmp_path)
    with urllib.request.urlopen(f"{server.url}/client/icp.py") as answer:
        machine.file.write_bytes(answer.read())
    machine.session = f"s-{next(NUMBERS)}"
    done = machine.icp("connect", "claude-code", "--url", server.url, ICP_TOKEN=tokens["agent"])
    assert done.returncode == 0, done.stderr
    if "commands run uncontained" in done.stdout:
        skip_uncontained(done.stdout)
    server.select(tokens["agent"], machine.session)
    scripts = machine.repository / "scripts"
    scripts.mkdir()
    (scripts / "gen.py").write_text(
        "from pathlib import Path\n"
        "for name in ('src/auth/made.py', 'docs/made.md'):\n"
        "    Path(name).parent.mkdir(parents=True, exist_ok=True)\n"
        "    Path(name).write_text('made\\n')\n"
        "print('generated')\n"
        "raise SystemExit(7)\n"
    )
    yield machine
    server.api(tokens["agent"], "POST", f"sessions/{machine.session}/end")


def ask(machine: Machine, command: str, **fields):
    payload = {
        "session_id": machine.session, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_use_id": f"t-{crc32(command.encode())}", "cwd": str(machine.repository),
        "tool_input": {"command": command, "timeout": 5000} | fields,
    }  # fmt: skip
    done = machine.hook("claude-code", payload=payload)
    return json.loads(done.stdout).get("hookSpecificOutput", {}), done


def test_a_command_is_rewritten_run_and_judged_by_what_it_changed(connected, server, tokens):
    output, _ = ask(connected, "python3 scripts/gen.py")
    assert output["permissionDecision"] == "allow"
    rewritten = output["updatedInput"]
    assert rewritten["timeout"] == 5000
    program = rewritten["command"].split()
    assert program[-2] == "run"

    done = connected.run(*program)
    assert (done.returncode, done.stdout) == (7, "generated\n")
    assert "src/auth/made.py landed; docs/made.md waits for approval" in done.stderr
    assert (connected.repository / "src/auth/made.py").read_text() == "made\n"
    assert not (connected.repository / "docs").exists()

    _, traces = server.api(tokens["reviewer"], "GET", f"traces?session={connected.session}")
    assert [row["relative_path"] for entry in traces["results"] for row in entry["files"]] == [
        "src/auth/made.py"
    ]
    again = connected.run(*program)
    assert again.returncode == 126

    approvals = server.api(tokens["reviewer"], "GET", "approvals?status=PENDING")[1]["results"]
    (approval,) = [row for row in approvals if row["session_id"] == connected.session]
    assert (approval["kind"], approval["offending"]) == ("run", ["docs/made.md"])
    status, _ = server.api(
        tokens["reviewer"], "POST", f"approvals/{approval['id']}/decide", {"action": "approve"}
    )
    assert status == 200
    ask(connected, "ls")  # the next call of the agent lands it
    assert (connected.repository / "docs/made.md").read_text() == "made\n"


def test_what_leaves_the_machine_is_asked_about(connected):
    output, done = ask(connected, "git push origin main")
    assert output["permissionDecision"] == "deny"
    assert done.returncode == 2


def test_a_command_that_only_reads_is_left_alone(connected):
    assert ask(connected, "ls -la")[0] == {}


def test_without_bubblewrap_a_person_is_asked(connected):
    file = connected.home / ".local/state/icp/containment.json"
    file.write_text(json.dumps({"reason": "not here", "landlock": 0}))
    assert ask(connected, "python3 scripts/gen.py")[0]["permissionDecision"] == "deny"


def test_a_run_that_was_not_stored_is_refused(connected):
    done = connected.run(
        *[str(word) for word in (sys.executable, "-I", "-S", connected.config / "icp.py", "run", "f" * 32)]
    )
    assert done.returncode == 126
    assert "not known here" in done.stderr


def test_what_could_not_land_is_told_to_the_control_plane(connected, server, tokens):
    output, _ = ask(connected, "python3 scripts/gen.py # again")
    connected.run(*output["updatedInput"]["command"].split())
    approvals = server.api(tokens["reviewer"], "GET", "approvals?status=PENDING")[1]["results"]
    (approval,) = [row for row in approvals if row["session_id"] == connected.session]
    server.api(tokens["reviewer"], "POST", f"approvals/{approval['id']}/decide", {"action": "approve"})
    (connected.repository / "docs").mkdir()
    (connected.repository / "docs/made.md").write_text("mine\n")
    _, done = ask(connected, "ls")
    assert "docs/made.md did not land: STALE_FILE" in done.stderr
    assert (connected.repository / "docs/made.md").read_text() == "mine\n"
    assert "still recorded" not in done.stderr  # the control plane has answered
    assert list((connected.home / ".local/state/icp/held").iterdir()) == []
