"""The `.intentignore` files of a local root count on the next call, and cost two `stat` calls while unchanged."""

from __future__ import annotations

import os

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from intents.rules import ignore_files
from intents.rules.ignore_files import (
    LOCATIONS,
    UNSETTLED_NS,
    find_excluded_intents,
    list_ignore_texts,
    read_ignore_files,
    require_ignore_texts,
)
from tests import builders


@pytest.fixture
def home(tmp_path):
    (tmp_path / ".orchestration").mkdir()
    return tmp_path


def settle(path):
    """Make a file look older than any clock tick; its ctime cannot be set, so the constant is."""
    os.utime(path, ns=(10**18, 10**18))


class TestReading:
    def test_both_files_are_read_and_a_missing_one_is_none(self, home):
        assert list_ignore_texts(str(home)) == ()
        for location in LOCATIONS:
            (home / location).write_text(f"{location}\n")
        assert list_ignore_texts(str(home)) == tuple(f"{location}\n" for location in LOCATIONS)
        assert list_ignore_texts("") == ()

    def test_a_change_of_the_same_length_in_the_same_tick_is_seen(self, home):
        file = home / ".intentignore"
        for text in ("aaaa", "bbbb", "cccc"):
            file.write_text(text)
            settle(file)
            assert list_ignore_texts(str(home)) == (text,)

    def test_an_unchanged_file_is_not_read_again(self, home, monkeypatch):
        (home / ".intentignore").write_text("a\n")
        monkeypatch.setattr(ignore_files, "UNSETTLED_NS", -UNSETTLED_NS)
        list_ignore_texts(str(home))
        monkeypatch.setattr(ignore_files, "_read_file", None)
        assert list_ignore_texts(str(home)) == ("a\n",)

    def test_a_file_that_was_removed_forbids_nothing_any_more(self, home):
        file = home / ".intentignore"
        file.write_text("a\n")
        assert list_ignore_texts(str(home)) == ("a\n",)
        file.unlink()
        assert list_ignore_texts(str(home)) == ()

    def test_a_link_within_the_workspace_is_followed(self, home):
        (home / "rules").write_text("a\n")
        (home / ".intentignore").symlink_to("rules")
        assert list_ignore_texts(str(home)) == ("a\n",)

    @pytest.mark.parametrize("kind", ["fifo", "directory", "bytes", "nul", "large", "outside"])
    def test_what_cannot_be_read_is_an_error_and_never_nothing(self, home, tmp_path_factory, kind):
        file = home / ".intentignore"
        if kind == "fifo":
            os.mkfifo(file)
        elif kind == "directory":
            file.mkdir()
        elif kind == "outside":
            target = tmp_path_factory.mktemp("outside") / "secret"
            target.write_text("of somebody else\n")
            file.symlink_to(target)
        else:
            file.write_bytes({"bytes": b"a\n\xff", "nul": b"a\0b", "large": b"x" * 300_000}[kind])
        (found,) = read_ignore_files(str(home))
        assert found.error
        assert found.text == ""
        assert list_ignore_texts(str(home)) == ()
        with pytest.raises(ignore_files.UnreadableIgnoreFileError, match=r"\.intentignore cannot be used"):
            require_ignore_texts(str(home))


@pytest.mark.django_db
class TestAtTheGate:
    @pytest.fixture
    def disk(self, home):
        workspace = builders.workspace("disk", local_root=str(home))
        builders.intent(workspace)
        builders.intent(workspace, "INT-002", owned_scope=["docs/**"])
        return workspace

    @pytest.fixture
    def agent(self, disk):
        return builders.speaker(disk)

    @pytest.mark.parametrize("location", LOCATIONS)
    def test_a_line_counts_on_the_next_call_and_is_gone_with_the_file(self, home, agent, location):
        assert agent.gate("read_file", path="src/a.ts")["decision"] == "allow"
        (home / location).write_text("src/a.ts\n")
        refused = agent.gate("read_file", path="src/a.ts")
        assert (refused["decision"], refused["error_type"]) == ("ask", "INTENTIGNORE_PATH_BLOCKED")
        assert agent.gate("read_file", path="src/a.ts", dry_run=True)["decision"] == "ask"
        (home / location).unlink()
        assert agent.gate("read_file", path="src/a.ts")["decision"] == "allow"

    def test_no_file_takes_back_what_another_forbids(self, home, disk, agent):
        disk.intentignore = "*.pem\n"
        disk.save()
        (home / ".intentignore").write_text("!*.pem\n")
        (home / ".orchestration" / ".intentignore").write_text("*.key\n!*.pem\n")
        assert agent.gate("read_file", path="a.pem")["decision"] == "ask"
        assert agent.gate("read_file", path="a.key")["decision"] == "ask"

    def test_an_intent_line_keeps_agents_from_the_intent_everywhere(self, home, disk, agent):
        (home / ".intentignore").write_text("intent: INT-001\n")
        assert find_excluded_intents(disk) == {"INT-001"}
        opened = agent.post("sessions", {"session_id": "s-1"}).json()
        assert [found["id"] for found in opened["available_intents"]] == ["INT-002"]
        assert "INT-001" not in opened["prompt"]
        selected = agent.select("INT-001")
        assert (selected["success"], selected["error_type"]) == (False, "INTENT_IGNORED")

    def test_an_intent_that_is_excluded_in_mid_session_stops_it(self, home, agent):
        assert agent.select("INT-001")["success"]
        (home / ".orchestration" / ".intentignore").write_text("intent: INT-001\n")
        refused = agent.gate("write_to_file", path="src/auth/a.ts", content="x")
        assert refused["error_type"] == "INTENT_IGNORED"
        assert "INT-002" in refused["error"]
        assert not agent.post("sessions/s-1/preflight", {}).json()["ok"]

    def test_a_file_that_cannot_be_read_denies_every_call(self, home, agent):
        (home / ".intentignore").write_bytes(b"\xff")
        for call in ({"tool": "read_file"}, {"tool": "select_active_intent"}):
            answer = agent.post("gate", {"session_id": "s-1", "input": {}} | call)
            assert answer.status_code == 503
            assert (answer.json()["decision"], answer.json()["error_type"]) == ("deny", "HOOK_BLOCKED")
            assert ".intentignore cannot be used" in answer.json()["error"]

    def test_a_known_session_asks_the_database_no_more_than_before(self, home, agent):
        (home / ".intentignore").write_text("keys/\n")
        agent.select("INT-001")
        agent.gate("write_to_file", path="src/auth/a.ts", content="x")
        (home / ".intentignore").write_text("secret/\n")
        with CaptureQueriesContext(connection) as captured:
            agent.gate("write_to_file", path="src/auth/a.ts", content="y")
        assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) <= 3

    def test_the_page_shows_which_lines_come_from_disk(self, home, disk):
        (home / ".intentignore").write_text("secret/\u202e\n")
        (home / ".orchestration" / ".intentignore").write_bytes(b"\xff")
        ivy = builders.signed_in(builders.person("ivy", disk, "auditor"))
        page = ivy.get("/w/disk/settings/intentignore/").content.decode()
        assert "On disk" in page
        assert "\u202e" not in page
        assert "Line 1 is not UTF-8." in page
        (home / ".intentignore").write_text("secret/\n")
        tried = {"action": "test", "path": "secret/a", "text": ""}
        answer = ivy.post("/w/disk/settings/intentignore/", tried)
        assert answer.context["test"] == {"path": "secret/a", "line": "secret/", "source": ".intentignore"}
