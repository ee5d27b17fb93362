"""Connecting Codex: its hooks run only when Codex trusts them, so `connect` sees to it and `doctor` looks."""

from __future__ import annotations

import json
import sys

import pytest

from tests.client.machine import PATH

# Stands in for `codex app-server`: one hook of ours and one of somebody else, trusted by what is in state.json.
CODEX = """#!{python} -IS
import json, os, sys
state = {folder!r} + "/state.json"
hook = {{"currentHash": "sha256:1", "enabled": True}}
for line in sys.stdin:
    asked = json.loads(line)
    result = {{}}
    if asked["method"] == "config/batchWrite":
        json.dump(asked["params"]["edits"], open(state, "w"))
    if asked["method"] == "hooks/list":
        trusted = json.load(open(state))[0]["value"] if os.path.exists(state) else {{}}
        found = {{"ours": '"$HOME/.config/icp/hook" codex PreToolUse', "theirs": "lint"}}
        hooks = [
            hook | {{"key": key, "command": command, "trustStatus": "trusted" if key in trusted else "untrusted"}}
            for key, command in found.items()
        ]
        result = {{"data": [{{"cwd": asked["params"]["cwds"][0], "hooks": hooks if {lists} else []}}]}}
    print(json.dumps({{"method": "configWarning"}}))
    print(json.dumps({{"id": asked["id"], {answer!r}: result}}), flush=True)
"""


@pytest.fixture
def codex(tmp_path, machine):
    """Puts a Codex on the PATH; returns that PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def put(lists: bool = True, answer: str = "result", text: str = CODEX) -> str:
        file = folder / "codex"
        file.write_text(text.format(python=sys.executable, folder=str(tmp_path), lists=lists, answer=answer))
        file.chmod(0o755)
        return f"{folder}:{PATH}"

    return put


def connected(machine, path: str, *more: str):
    return machine.icp("connect", "codex", "--url", "http://127.0.0.1:9", *more, ICP_TOKEN="icp_x", PATH=path)


def trust_line(machine, path: str) -> str:
    return next(
        line for line in machine.icp("doctor", PATH=path).stdout.splitlines() if "runs our hooks" in line
    )


def test_connect_trusts_our_hooks_and_nobody_elses(machine, codex, tmp_path):
    path = codex()
    done = connected(machine, path)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = {
        "keyPath": "hooks.state",
        "value": {"ours": {"trusted_hash": "sha256:1"}},
        "mergeStrategy": "upsert",
    }
    assert json.loads((tmp_path / "state.json").read_text()) == [wanted]
    assert trust_line(machine, path) == "ok   codex: it runs our hooks"


def test_showing_the_change_trusts_nothing(machine, codex, tmp_path):
    connected(machine, codex(), "--dry-run")
    assert not (tmp_path / "state.json").exists()


def test_the_doctor_looks_and_trusts_nothing_itself(machine, codex, tmp_path):
    path = codex()
    connected(machine, path)
    (tmp_path / "state.json").unlink()
    assert "FAIL codex: it runs our hooks: Codex does not trust the hooks" in trust_line(machine, path)
    assert not (tmp_path / "state.json").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"lists": False}, "Codex does not trust this folder"),
        ({"answer": "error"}, "did not say whether it trusts the hooks"),
        ({"text": "#!/bin/sh\nexit 1\n"}, "did not say whether it trusts the hooks"),
        ({"text": "#!/bin/sh\necho hello\n"}, "did not say whether it trusts the hooks"),
        ({"text": "#!/nonexistent\n"}, "cannot be run"),
    ],
)
def test_where_codex_will_not_run_them_connect_says_that_nothing_is_enforced_yet(machine, codex, given, says):
    done = connected(machine, codex(**given))
    assert done.returncode == 0
    assert done.stderr.startswith("NOT ENFORCED YET.")
    assert says in done.stderr
    assert "without asking the gate" in done.stderr
