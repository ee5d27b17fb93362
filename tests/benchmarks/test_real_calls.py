"""The replay of recorded calls: any folder of the form, sessions with their own scope, answers counted."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import attacks, real_calls
from benchmarks.interruptions import CALLS, judge
from controlplane.policy.rules import policy_document
from controlplane.shared.starters import STARTERS, detect_starter

ROOT = "/home/dev/app"


def call(tool, cwd=ROOT, **data):
    return {"tool": tool, "input": data, "cwd": cwd}


SESSION = {
    "session": "s1",
    "agent": "claude-code",
    "root": None,
    "touched": ["src/a.py", "README.md"],
    "calls": [
        call("Read", file_path=f"{ROOT}/src/b.py"),
        call("Write", file_path=f"{ROOT}/src/a.py", content="x"),
        call("Write", file_path=f"{ROOT}/docs/a.md", content="x"),
        call("mcp__linear__create_issue", title="one"),
        call("mcp__linear__create_issue", title="two"),
        call("Read", file_path="/etc/passwd"),
    ],
}


@pytest.fixture(params=["r1.jsonl", "r1.jsonl.gz"])
def repository(tmp_path, request):
    folder = tmp_path / "calls"
    folder.mkdir()
    data = (json.dumps(SESSION) + "\n").encode()
    (folder / request.param).write_bytes(gzip.compress(data) if request.param.endswith("gz") else data)
    (found,) = real_calls.load_repositories(folder, tmp_path / "work")
    return found


MODES = {mode.name: mode for mode in real_calls.MODES}


def replay(repository, *, scope="narrow", mode="starter"):
    tally = real_calls.Tally()
    policy = policy_document.parse(STARTERS["python"].policy)
    real_calls.replay(repository, policy, "", scope=scope, mode=MODES[mode], tally=tally)
    return tally


def test_a_session_is_judged_under_its_touched_folders_and_tests(repository):
    assert detect_starter(repository.root).kind == "python"
    (session,) = repository.sessions
    assert session.root == ROOT
    assert session.narrow_scope[:2] == ("src/**", "README.md")
    tally = replay(repository)
    assert (tally.calls, tally.sessions, tally.quiet_sessions) == (6, 1, 0)
    assert (tally.verdicts["ask"], tally.verdicts["deny"]) == (3, 1)
    assert tally.reasons["not_in_scope"] == 1
    assert tally.kinds["mcp:linear.create_issue"] == 2
    assert replay(repository, scope="wide").verdicts["ask"] == 2


def test_the_default_choice_answers_the_next_call_of_the_kind(repository):
    tally = replay(repository, mode="default_choice")
    assert tally.kinds["mcp:linear.create_issue"] == 1
    assert tally.kinds["places to read"] == 1, "the agent asks for the folder that it was refused to read"
    assert tally.verdicts["ask"] == 3


def test_a_client_that_contains_is_asked_before_about_less_and_after_about_what_it_changed(repository):
    asked = call("Bash", command="python3 -c 'print(1)'"), call("Bash", command="$TOOL --fix")
    (session,) = repository.sessions
    repository.sessions = [replace(session, calls=asked, touched=("src/a.py", "package-lock.json", ".env"))]
    counts = {name: replay_counts(repository, name) for name in MODES}
    assert counts["default_choice"] == (2, 0, 0)
    assert counts["contained"] == (1, 1, 1)
    assert counts["contained_unknown"] == (0, 2, 1)


def replay_counts(repository, mode):
    """Asks before, commands contained, and runs that may have left something to ask about."""
    tally = real_calls.Tally()
    policy = policy_document.parse(STARTERS["python"].policy | {"effects": dict(MODES[mode].effects)})
    real_calls.replay(repository, policy, ".env\n", scope="wide", mode=MODES[mode], tally=tally)
    return tally.verdicts["ask"], tally.contained, tally.held


def test_a_folder_without_calls_is_said_to_be_empty(tmp_path):
    with pytest.raises(SystemExit, match="holds no"):
        list(real_calls.load_repositories(tmp_path, tmp_path))


def test_the_calls_of_the_project_are_complete():
    files = sorted(CALLS.glob("*.jsonl.gz"))
    sessions = [session for file in files for session in real_calls.load_sessions(file)]
    assert (len(sessions), sum(len(session.calls) for session in sessions)) == (109, 7670)


def test_what_is_permitted_on_purpose_is_an_attack_or_a_case():
    assert attacks.load_permitted("commands")
    assert attacks.load_permitted("granted")
    assert Path(attacks.PERMITTED).exists()


def test_a_bar_that_does_not_hold_fails(repository, capsys):
    from benchmarks.interruptions import Result  # noqa: PLC0415

    result = Result(tallies={("narrow", "starter"): replay(repository)})
    assert not judge(result, printed=True)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["name"] == "interruptions/narrow/starter/asks"
    assert (lines[0]["bar"], lines[0]["holds"]) == ("<= 9.0", False)
