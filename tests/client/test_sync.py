"""`icp.py sync` as it is served, against a real server: every file of the folder, both ways."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.client.machine import Machine

TRACE = {
    "id": "t-1", "timestamp": "2026-01-01T00:00:00.000Z", "vcs": {"revision_id": "abc"},
    "files": [{"relative_path": "src/auth/a.ts", "conversations": [{
        "url": "s-0", "contributor": {"entity_type": "AI", "model_identifier": "m"},
        "ranges": [{"start_line": 1, "end_line": 1, "content_hash": "sha256:" + "0" * 64}],
        "related": [{"type": "specification", "value": "INT-001"}]}]}],
}  # fmt: skip
LESSON = "# Notes of ours\n\n## Lesson Learned (2026-01-02)\n**File:** a.ts\n**Problems:**\nIt broke.\n"


class Ada:
    def __init__(self, folder, server, slug):
        self.machine, self.server = Machine(folder), server
        self.tokens = server.workspace(slug)
        self.folder = self.machine.repository / ".orchestration"

    def sync(self, *arguments, status=0, **env):
        named = {"ICP_URL": self.server.url, "ICP_TOKEN": self.tokens["admin"], **env}
        done = self.machine.icp("sync", *arguments, **named)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def api(self, method, path, body=None):
        return self.server.api(self.tokens["admin"], method, path, body)

    def ignored(self, put=None):
        """The registry's .intentignore, after putting one where it is given."""
        asked = urllib.request.Request(
            f"{self.server.url}/api/v1/intentignore", put, method="PUT" if put else "GET"
        )
        asked.add_header("Authorization", f"Bearer {self.tokens['admin']}")
        asked.add_header("Content-Type", "text/plain")
        with urllib.request.urlopen(asked) as answer:
            return answer.read()

    def rename(self, name):
        version = self.api("GET", "intents/INT-001")[1]["version"]
        assert self.api("PATCH", "intents/INT-001", {"name": name, "version": version})[0] == 200

    def files(self):
        found = [one for one in self.machine.repository.rglob("*") if one.is_file()]
        return {str(one.relative_to(self.machine.repository)): one.read_bytes() for one in found}


@pytest.fixture
def ada(tmp_path, server, request):
    return Ada(tmp_path, server, f"w{abs(hash(request.node.name)) % 10**9}")


def test_a_folder_is_made_and_a_second_run_changes_nothing(ada):
    assert "in agreement" in ada.sync()
    before = ada.files()
    assert b"INT-001" in before[".orchestration/active_intents.yaml"]
    size = ada.api("GET", "ledger")[1]
    assert ada.sync() == "in agreement\n"
    assert ada.files() == before
    assert ada.api("GET", "ledger")[1]["size"] == size["size"]


def test_everything_flows_both_ways(ada):
    ada.folder.mkdir()
    line = json.dumps(TRACE, indent=None)
    (ada.folder / "agent_trace.jsonl").write_text(line)  # without a line feed at its end
    (ada.folder / "AGENT.md").write_text(LESSON)
    (ada.machine.repository / ".intentignore").write_text("secret/**\n")
    token = ada.tokens["agent"]
    ada.server.select(token, "s-1")
    told = {"path": "src/auth/b.ts", "content": "b"}
    assert ada.server.api(token, "POST", "sessions/s-1/traces", told)[0] == 201
    assert ada.api("POST", "lessons", {"file": "b.ts", "problems": "Slow."})[0] == 201
    ada.sync()
    traced = ada.api("GET", "traces")[1]["results"]
    assert {one["id"] for one in traced} >= {"t-1"}
    lines = (ada.folder / "agent_trace.jsonl").read_text().splitlines()
    assert lines[0] == line
    assert {json.loads(one)["id"] for one in lines} == {one["id"] for one in traced}
    notes = (ada.folder / "AGENT.md").read_text()
    assert notes.startswith("# Notes of ours")
    assert "It broke." in notes
    assert "Slow." in notes
    assert {one["problems"] for one in ada.api("GET", "lessons")[1]["results"]} == {"It broke.", "Slow."}
    assert ada.ignored() == (ada.machine.repository / ".intentignore").read_bytes()
    assert ada.ignored().split(b"\n")[1] == b".env*"
    assert ada.ignored().endswith(b"secret/**\n")
    before = ada.files()
    assert ada.sync() == "in agreement\n"
    assert ada.files() == before


def test_lessons_in_other_forms_are_recorded_and_the_file_stays_as_it_is(ada):
    ada.folder.mkdir()
    notes = ada.folder / "AGENT.md"
    notes.write_text("# Notes\n\n## Lessons Learned\n_ours_\n- [2026-02-20] Slow.\n- **Issue** is odd.\n")
    before = notes.read_bytes()
    assert "AGENT.md line 4 is in no lesson: _ours_" in ada.sync()
    assert notes.read_bytes() == before
    lessons = ada.api("GET", "lessons")[1]["results"]
    assert {one["problems"] for one in lessons} == {"Slow.", "**Issue** is odd."}
    ada.sync()
    assert len(ada.api("GET", "lessons")[1]["results"]) == 2


def test_a_retired_lesson_leaves_the_file_and_other_text_stays(ada):
    ada.folder.mkdir()
    notes = ada.folder / "AGENT.md"
    notes.write_text(f"{LESSON}\n## Our rules\n\nBe kind.\n")
    decision = {"section": "decision", "problems": "Money is kept in cents."}
    assert ada.api("POST", "lessons", decision)[0] == 201
    ada.sync()
    assert notes.read_text().count("It broke.") == 1
    assert "## Architectural Decision (" in notes.read_text()
    assert ada.sync() == "in agreement\n"
    broke = next(one for one in ada.api("GET", "lessons")[1]["results"] if one["problems"] == "It broke.")
    assert ada.api("POST", f"lessons/{broke['id']}/retire", {"reason": "fixed"})[0] == 200
    assert "would be written" in ada.sync("--dry-run")
    ada.sync()
    kept = notes.read_text()
    assert "It broke." not in kept
    assert kept.startswith("# Notes of ours\n\n## Our rules\n\nBe kind.\n\n## Architectural Decision (")
    assert ada.sync() == "in agreement\n"
    assert notes.read_text() == kept
    assert ada.api("POST", f"lessons/{broke['id']}/restore", {})[0] == 200
    ada.sync()
    assert notes.read_text().count("It broke.") == 1


def test_conflicts_are_shown_and_neither_side_is_lost(ada):
    ada.sync()
    ada.rename("Of the registry")
    file = ada.folder / "active_intents.yaml"
    mine = file.read_text().replace("Sign in with tokens", "Of the folder")
    file.write_text(mine)
    ignore = ada.machine.repository / ".intentignore"
    ignore.write_text("a\n")
    assert ".intentignore" not in [line.split(":")[0] for line in ada.sync(status=1).split("CONFLICT ")]
    assert ada.ignored() == b"a\n"
    ignore.write_text("folder\n")
    ada.ignored(put=b"registry\n")
    shown = ada.sync(status=1)
    assert 'CONFLICT INT-001 name: base: "Sign in with tokens"; registry: "Of the registry"; folder' in shown
    assert "CONFLICT .intentignore" in shown
    assert file.read_text() == mine
    assert (ignore.read_text(), ada.ignored()) == ("folder\n", b"registry\n")
    ada.sync("--prefer", "registry")
    assert "Of the registry" in file.read_text()
    assert (ignore.read_text(), ada.ignored()) == ("registry\n", b"registry\n")
    assert ada.sync() == "in agreement\n"


def test_a_dry_run_changes_nothing_anywhere(ada):
    ada.folder.mkdir()
    (ada.folder / "AGENT.md").write_text(LESSON)
    before = ada.files()
    assert "would be written" in ada.sync("--dry-run")
    assert ada.files() == before
    assert ada.api("GET", "lessons")[1]["results"] == []


def test_a_map_that_somebody_edited_is_not_overwritten(ada):
    ada.sync()
    (ada.folder / "intent_map.md").write_text("mine\n")
    assert "CONFLICT intent_map.md" in ada.sync(status=1)
    assert (ada.folder / "intent_map.md").read_text() == "mine\n"
    ada.sync("--prefer", "registry")
    assert "# Intent Map" in (ada.folder / "intent_map.md").read_text()


def test_what_cannot_be_synced_ends_with_2_and_loses_nothing(ada, tmp_path):
    ada.sync()
    before = ada.files()
    assert "401" in ada.sync(status=2, ICP_TOKEN="icp_wrong")
    assert "403" in ada.sync(status=2, ICP_TOKEN=ada.tokens["agent"])
    ada.sync(status=2, ICP_URL="http://127.0.0.1:9")
    assert ada.files() == before
    file = ada.folder / "active_intents.yaml"
    file.write_text("active_intents: [")
    assert "400" in ada.sync(status=2)
    assert ada.api("GET", "intents")[1]["results"][0]["id"] == "INT-001"
    file.unlink()
    (tmp_path / "elsewhere").write_text("precious")
    file.symlink_to(tmp_path / "elsewhere")
    assert "leads out" in ada.sync(status=2)
    assert (tmp_path / "elsewhere").read_text() == "precious"
    file.unlink()
    (ada.folder / ".icp-sync.json").write_text("{")
    assert "not JSON" in ada.sync(status=2)
