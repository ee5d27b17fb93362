"""The gate with the workspace's files at hand: what lies there already decides where a command writes."""

from __future__ import annotations

import pytest

from sessions.worktree import Worktree
from tests import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_work(acme, agent, tmp_path):
    """An agent that owns src/auth/**, in a workspace on this machine."""
    acme.local_root = str(tmp_path)
    acme.save()
    for name in ("src/auth/a.ts", "src/auth/copy/b.ts", "src/billing/a.ts", "src/auth/mine/HEAD"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    builders.intent(acme, "INT-001", owned_scope=["src/auth/**"])
    assert agent.select("INT-001")["success"]
    return agent


def run(agent, command):
    return agent.gate("execute_command", command=command)


def test_a_tree_that_is_copied_writes_through_the_links_that_lie_there(at_work, tmp_path):
    assert run(at_work, "cp -r src/auth/mine/. src/auth/copy")["decision"] == "allow"
    (tmp_path / "src/auth/copy/HEAD").symlink_to("../../billing/a.ts")
    answer = run(at_work, "cp -r src/auth/mine/. src/auth/copy")
    assert (answer["decision"], answer["reason"]) == ("ask", "not_in_scope")
    assert "src/auth/copy/HEAD" in answer["targets"]


def test_git_is_not_trusted_where_an_agent_may_have_put_a_repository(at_work):
    assert run(at_work, "git -C src/billing status")["classification"] == "safe"
    answer = run(at_work, "git -C src/auth/mine status")
    assert (answer["classification"], answer["reason"]) == ("destructive", "unknown_target")


def test_a_wildcard_of_a_change_is_what_it_matches(at_work):
    answer = run(at_work, "sed -i s/x/y/ src/auth/copy/*.ts")
    assert (answer["decision"], answer["targets"]) == ("allow", ["src/auth/copy/b.ts"])
    answer = run(at_work, "rm src/*/a.ts")
    assert (answer["decision"], answer["reason"]) == ("ask", "not_in_scope")
    assert answer["targets"] == ["src/auth/a.ts", "src/billing/a.ts"]


def test_a_wildcard_does_not_read_around_a_link(at_work, tmp_path, tmp_path_factory):
    (tmp_path_factory.mktemp("elsewhere") / "key").write_text("secret\n")
    (tmp_path / "src/other").symlink_to(tmp_path_factory.getbasetemp())
    answer = run(at_work, "cat src/*/*/key")
    assert (answer["decision"], answer["reason"]) == ("deny", "outside_workspace")


def test_names_in_a_folder(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a").touch()
    worktree = Worktree(1, str(tmp_path), {})
    assert [worktree.list_names(name) for name in ("src", "", "src/a", "nosuch", "src/../src")] == [
        ["a"], ["src"], (), (), ["a"],
    ]  # fmt: skip
    assert (Worktree(1, "", {}).list_names("src"), worktree.list_names("a\0b")) == (None, None)
    monkeypatch.setattr("sessions.worktree.MAX_BELOW", 0)
    assert worktree.list_names("src") is None
