"""Where a session works: at the top, in a sub-directory, in another work tree, or in something else."""

from __future__ import annotations

import pytest

from sessions.call_root import ClaimedRoot, resolve_call_root
from tests import builders
from tests.client.git_repository import Repository
from traces.ledger.append import read_body
from traces.models import LedgerEntry, TraceFile

pytestmark = pytest.mark.django_db
PAYLOAD = {"hook_event_name": "PreToolUse", "session_id": "s-1", "tool_name": "Write", "tool_use_id": "t-1"}


@pytest.fixture
def repository(tmp_path):
    repository = Repository(tmp_path / "acme")
    for path in ("src/auth/a.ts", "packages/web app/src/auth/a.ts"):
        repository.write(path, "x\n")
    repository.commit()
    return repository


@pytest.fixture
def tree(repository, tmp_path):
    """Another work tree of the same repository."""
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    return tmp_path / "tree"


def at_work(root):
    acme = builders.workspace(local_root=str(root))
    builders.intent(acme)
    agent = builders.speaker(acme)
    agent.select("INT-001")
    return agent


def write(agent, folder, path, **more):
    return agent.gate("Write", root=str(folder), file_path=str(path), content="y", **more)


class TestAWorkspaceOnDisk:
    def test_in_a_sub_directory_paths_start_at_the_top(self, repository):
        agent, package = at_work(repository.root), repository.root / "packages/web app"
        assert write(agent, package, repository.root / "src/auth/a.ts")["decision"] == "allow"
        answer = write(agent, package, package / "src/auth/a.ts")
        assert (answer["decision"], answer["targets"]) == ("ask", ["packages/web app/src/auth/a.ts"])

    def test_in_another_work_tree_they_start_at_its_own_top(self, repository, tree):
        agent = at_work(repository.root)
        assert write(agent, tree, tree / "src/auth/a.ts")["targets"] == ["src/auth/a.ts"]
        assert write(agent, tree, tree / "docs/a.md")["reason"] == "not_in_scope"

    def test_hashes_are_those_of_the_work_tree(self, repository, tree):
        agent = at_work(repository.root)
        (tree / "src/auth/a.ts").write_text("other\n")
        known = agent.gate("Read", root=str(tree), file_path=str(tree / "src/auth/a.ts"))["content_hashes"]
        elsewhere = at_root_hash(repository)
        assert known != elsewhere

    def test_a_link_that_only_the_work_tree_has_is_followed(self, repository, tree):
        agent = at_work(repository.root)
        (tree / "src/auth/out").symlink_to("/etc")
        assert write(agent, tree, tree / "src/auth/out/x")["reason"] == "outside_workspace"

    @pytest.mark.parametrize("other", ["another repository", "a bare directory", "a copied link"])
    def test_another_directory_is_refused(self, repository, tree, tmp_path, other):
        folder = tmp_path / "elsewhere"
        folder.mkdir()
        if other == "another repository":
            Repository(folder)
        if other == "a copied link":  # says that it is a work tree; the repository does not know it
            (folder / ".git").write_text((tree / ".git").read_text())
        agent = at_work(repository.root)
        answer = write(agent, folder, folder / "src/auth/a.ts")
        assert (answer["decision"], answer["error_type"], answer["reason"]) == (
            "deny", "SESSION_ENDED", "wrong_root",
        )  # fmt: skip
        assert answer["action_hint"] == "start_new_session"
        assert answer["recoverable"] is False
        read = agent.gate("Read", root=str(folder), file_path=str(folder / "secret"))
        assert (read["decision"], read["reason"]) == ("deny", "outside_workspace")

    def test_a_directory_of_another_machine_is_taken_as_it_is(self, repository):
        agent = at_work(repository.root)
        assert write(agent, "/home/ada/acme", "/home/ada/acme/src/auth/a.ts")["decision"] == "allow"

    def test_a_workspace_that_is_a_part_of_a_repository_keeps_its_own_top(self, repository, tree):
        package = "packages/web app"
        agent = at_work(repository.root / package)
        assert write(agent, repository.root, repository.root / package / "src/auth/a.ts")["targets"] == [
            "src/auth/a.ts"
        ]
        assert (
            write(agent, repository.root, repository.root / "src/auth/a.ts")["reason"] == "outside_workspace"
        )
        found = resolve_call_root(ClaimedRoot(str(tree)), ClaimedRoot(), str(repository.root / package))
        assert (found.root, found.disk, found.is_wrong) == (f"{tree}/{package}", f"{tree}/{package}", False)

    def test_a_root_through_a_link_keeps_the_agents_spelling(self, repository, tmp_path):
        (tmp_path / "link").symlink_to(repository.root)
        found = resolve_call_root(
            ClaimedRoot(f"{tmp_path}/link/packages/web app"), ClaimedRoot(), str(repository.root)
        )
        assert (found.root, found.disk) == (f"{tmp_path}/link", str(repository.root))

    @pytest.mark.parametrize("root", ["relative", "/nul\0byte", "~", "/" + "x" * 5000])
    def test_what_is_no_directory_changes_nothing(self, repository, root):
        found = resolve_call_root(ClaimedRoot(root), ClaimedRoot(), str(repository.root))
        assert (found.root, found.is_wrong) == (root, False)


def at_root_hash(repository):
    agent = builders.speaker(builders.workspace("other", local_root=str(repository.root)))
    builders.intent(agent.token.workspace)
    agent.select("INT-001", "s-9")
    path = str(repository.root / "src/auth/a.ts")
    return agent.gate("Read", session="s-9", root=str(repository.root), file_path=path)["content_hashes"]


class TestAWorkspaceElsewhere:
    @pytest.fixture
    def hooked(self, acme, agent):
        """Claude Code at /acme, as its hook client tells of it."""
        builders.intent(acme)
        self.pre(agent, "/acme", "/acme/src/auth/early.ts")
        agent.select("INT-001")
        return agent

    def pre(self, agent, root, path, repository="/acme", event="PreToolUse"):
        body = PAYLOAD | {
            "hook_event_name": event,
            "cwd": root,
            "tool_input": {"file_path": path, "content": "y"},
            "icp": {"root": root, "repository": repository, "current_content_hashes": {}},
        }
        headers = {"Authorization": f"Bearer {agent.secret}"}
        return agent.client.post(
            f"/hooks/claude-code/{event}", body, content_type="application/json", headers=headers
        )

    def test_a_session_may_go_on_in_another_work_tree_of_its_repository(self, hooked):
        tree = "/acme/.claude/worktrees/feat"
        assert self.pre(hooked, tree, f"{tree}/src/auth/b.ts")["X-ICP-Decision"] == "allow"
        assert self.pre(hooked, tree, f"{tree}/docs/b.md")["X-ICP-Decision"] == "ask"
        newest = LedgerEntry.objects.filter(kind="decision").order_by("-pk")[0]
        assert read_body(newest)["root"] == tree

    def test_what_it_writes_there_is_recorded_by_the_same_name(self, hooked):
        tree = "/tree"
        self.pre(hooked, tree, f"{tree}/src/auth/b.ts", event="PostToolUse")
        assert TraceFile.objects.get().path == "src/auth/b.ts"

    @pytest.mark.parametrize("repository", ["", "/other"])
    def test_no_other_directory_moves_it(self, hooked, repository):
        answer = self.pre(hooked, "/acme/docs", "/acme/docs/src/auth/b.ts", repository)
        assert answer["X-ICP-Decision"] == "ask"

    def test_the_agents_own_word_does_not_either(self, acme, agent):
        builders.intent(acme)
        write(agent, "/acme", "/acme/src/auth/a.ts")
        agent.select("INT-001")
        assert write(agent, "/acme/docs", "/acme/docs/src/auth/a.ts")["decision"] == "ask"
