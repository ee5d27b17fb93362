"""Constraints that look beyond the call: at what the session changed before, and at what files hold."""

from __future__ import annotations

import pytest

from tests import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def on_disk(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "long.py").write_text("one\ntwo\nthree\n")
    (tmp_path / "requirements.txt").write_text("django==5.2\n")
    return builders.workspace("disk", local_root=str(tmp_path))


def at_work(workspace, *constraints):
    agent = builders.speaker(workspace)
    builders.intent(workspace, owned_scope=["**"], constraints=list(constraints))
    assert agent.select("INT-001")["success"]
    return agent


def write(agent, path, content="x"):
    answer = agent.gate("write_to_file", path=path, content=content)
    return answer["decision"], answer["reason"]


def test_a_session_may_change_so_many_files_and_no_more(acme):
    agent = at_work(acme, {"type": "max_files_changed", "max_files": 2})
    assert write(agent, "a.py") == ("allow", None)
    assert write(agent, "b.py") == ("allow", None)
    assert write(agent, "a.py") == ("allow", None)
    assert write(agent, "c.py") == ("deny", "max_files_changed")


def test_what_was_refused_is_no_changed_file(acme):
    agent = at_work(acme, {"type": "max_files_changed", "max_files": 1})
    write(agent, ".git/config")
    agent.gate("read_file", path="z.py")
    assert write(agent, "a.py") == ("allow", None)


def test_a_change_there_may_have_come_before(acme):
    agent = at_work(acme, {"type": "require_file", "scope": "src/**", "file": "tests/**"})
    assert write(agent, "src/a.py") == ("deny", "require_file")
    assert write(agent, "tests/test_a.py") == ("allow", None)
    assert write(agent, "src/a.py") == ("allow", None)


def test_an_edit_is_counted_with_the_file_on_disk(on_disk):
    agent = at_work(on_disk, {"type": "max_file_lines", "max_lines": 3})
    edit = {"file_path": "src/long.py", "old_string": "two", "new_string": "two\nmore"}
    assert agent.gate("Edit", **edit)["reason"] == "max_file_lines"
    assert agent.gate("Edit", **edit | {"new_string": "2"})["decision"] == "allow"


def test_a_rewritten_manifest_is_held_against_the_one_on_disk(on_disk):
    agent = at_work(on_disk, {"type": "no_new_dependency"})
    assert write(agent, "requirements.txt", "django==5.2.1\n") == ("allow", None)
    assert write(agent, "requirements.txt", "django==5.2\nflask\n") == ("deny", "no_new_dependency")
