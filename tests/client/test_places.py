"""From each place in a repository: which connection the hook finds, and what it says of the place."""

from __future__ import annotations

import json

import pytest

from controlplane.client.agents import CLIENTS, no_objection
from tests.client.git_repository import Repository
from tests.client.machine import Machine


@pytest.fixture
def claude(tmp_path, stub):
    """Claude Code, connected by the user's own entry."""
    machine = Machine(tmp_path)
    repository = Repository(machine.repository)
    repository.write("src/a.ts", "abc")
    repository.write("packages/web app/package.json", "{}")
    repository.commit()
    connect_user(machine, "claude-code", stub.url)
    return machine


def connect_user(machine, agent, url="http://127.0.0.1:9"):
    done = machine.icp("connect", agent, "--user", "--url", url, ICP_TOKEN="icp_secret")
    assert done.returncode == 0, done.stderr
    return done


def add_tree(machine, path):
    repository = Repository.__new__(Repository)
    repository.root = machine.repository
    repository.git("worktree", "add", "-q", str(path), "-b", path.name.replace(" ", "-"))
    return path


def ask(machine, folder, tool_input=None, agent="claude-code", event="", **env):
    payload = {"session_id": "s-1", "cwd": str(folder), "tool_name": "Write", "tool_input": tool_input or {}}
    event = event or CLIENTS[agent].gates.split()[0]
    command = f'cd "{folder}" && exec "{machine.launcher}" {agent} {event} user'
    return machine.run("sh", "-c", command, given=json.dumps(payload), **env)


class TestTheWorkTree:
    def test_of_a_sub_directory_is_the_top(self, claude, stub):
        ask(
            claude, claude.repository / "packages/web app", CLAUDE_PROJECT_DIR=f"{claude.repository}/packages"
        )
        told = stub.payload()["icp"]
        assert (told["root"], told["repository"]) == (str(claude.repository), str(claude.repository))

    @pytest.mark.parametrize("inside", [False, True])
    def test_of_a_linked_work_tree_is_its_own_top(self, claude, stub, tmp_path, inside):
        place = claude.repository / ".claude/worktrees/feat" if inside else tmp_path / "other tree"
        tree = add_tree(claude, place)
        ask(claude, tree / "packages/web app", {"file_path": str(tree / "src/a.ts")})
        told = stub.payload()["icp"]
        assert (told["root"], told["repository"]) == (str(tree), str(claude.repository))
        assert list(told["current_content_hashes"]) == ["src/a.ts"]

    def test_a_call_names_it_where_the_client_was_started_in_another(self, claude, stub, tmp_path):
        """As of a sub-agent in a work tree of its own, whose client was started at the top."""
        tree = add_tree(claude, tmp_path / "isolated")
        ask(claude, tree, CLAUDE_PROJECT_DIR=str(claude.repository))
        assert stub.payload()["icp"]["root"] == str(tree)
        ask(claude, claude.repository, {"file_path": str(tree / "src/a.ts")})
        assert stub.payload()["icp"]["root"] == str(tree)
        ask(claude, tree, {"file_path": str(claude.repository / "src/a.ts")})
        assert stub.payload()["icp"]["root"] == str(claude.repository)

    def test_of_a_bare_repository_serves_all_its_work_trees(self, tmp_path, stub, claude):
        bare = tmp_path / "bare.git"
        origin = Repository.__new__(Repository)
        origin.root = claude.repository
        origin.git("clone", "-q", "--bare", str(claude.repository), str(bare))
        origin.root = bare
        for name in ("one", "two"):
            origin.git("worktree", "add", "-q", str(tmp_path / name), "-b", name)
        claude.repository = tmp_path / "one"
        connect_user(claude, "claude-code", stub.url)
        ask(claude, tmp_path / "two")
        assert stub.payload()["icp"]["root"] == str(tmp_path / "two")

    def test_a_link_that_an_agent_writes_moves_nothing(self, claude, stub, tmp_path):
        tree = add_tree(claude, tmp_path / "real")
        fake = claude.repository / "docs"
        fake.mkdir()
        (fake / ".git").write_text((tree / ".git").read_text())
        ask(claude, fake)
        assert stub.payload()["icp"]["root"] == str(claude.repository)

    def test_of_a_nested_repository_is_the_connected_one_around_it(self, claude, stub):
        nested = Repository(claude.repository / "vendor")
        ask(claude, nested.root)
        assert stub.payload()["icp"]["root"] == str(claude.repository)


class TestARepositoryThatIsNotConnected:
    @pytest.fixture
    def other(self, tmp_path, claude):
        return Repository(tmp_path / "other").root

    @pytest.mark.parametrize("agent", CLIENTS)
    def test_no_hook_objects_there_and_nobody_is_asked(self, claude, stub, other, agent):
        for event in f"{CLIENTS[agent].gates} {CLIENTS[agent].others}".split():
            done = ask(claude, other, agent=agent, event=event)
            assert (done.returncode, json.loads(done.stdout)) == (0, no_objection(agent, event))
        assert stub.asked == []

    def test_what_it_does_to_a_connected_one_is_asked_about(self, claude, stub, other):
        path = str(claude.repository / "src/a.ts")
        ask(claude, other, {"file_path": path})
        assert stub.payload()["icp"]["root"] == str(claude.repository)
        ask(claude, other, {"command": f"rm -f '{path}'"})
        assert len(stub.asked) == 2

    @pytest.mark.parametrize("text", [None, "", "{", "[]", "1"])
    def test_without_the_list_of_repositories_it_refuses_everywhere(self, claude, other, text):
        file = claude.config / "connections.json"
        file.unlink() if text is None else file.write_text(text)
        done = ask(claude, other)
        assert done.returncode == 2
        assert "must not run" in done.stderr

    def test_the_mcp_server_offers_nothing_there(self, claude, other):
        messages = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"clientInfo": {"name": "c"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "select_active_intent"}},
        ]
        given = "".join(json.dumps(message) + "\n" for message in messages)
        done = claude.run(
            "sh", "-c", f'cd "{other}" && exec "{claude.launcher}" mcp claude-code user', given=given
        )
        answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
        assert answers[1]["result"]["serverInfo"]["name"] == "icp"
        assert answers[2]["result"] == {"tools": []}
        assert "not connected" in answers[3]["error"]["message"]

    def test_the_repositorys_own_entry_refuses_there(self, claude, other):
        """As in a clone of a repository whose entries are committed."""
        command = f'cd "{other}" && exec "{claude.launcher}" claude-code PreToolUse'
        assert claude.run("sh", "-c", command, given="{}").returncode == 2


@pytest.mark.deep
class TestTheDoctor:
    def doctor(self, machine, folder):
        machine.repository, before = folder, machine.repository
        try:
            return machine.icp("doctor")
        finally:
            machine.repository = before

    @pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "qwen-code", "copilot"])
    def test_fails_where_a_client_would_not_read_its_entries(self, machine, stub, agent):
        Repository(machine.repository)
        (machine.repository / "sub").mkdir()
        done = machine.connect(agent, stub.url)
        assert "started in a sub-directory" in done.stdout
        told = self.doctor(machine, machine.repository / "sub")
        assert told.returncode == 1
        assert f"FAIL {agent}: it reads its entries in this directory: " in told.stdout
        assert "reads its entries in this directory" not in self.doctor(machine, machine.repository).stdout

    @pytest.mark.parametrize("agent", ["codex", "opencode", "kilo"])
    def test_does_not_where_it_looks_upwards(self, machine, stub, agent):
        Repository(machine.repository)
        (machine.repository / "sub").mkdir()
        machine.connect(agent, stub.url)
        told = self.doctor(machine, machine.repository / "sub").stdout
        assert "reads its entries in this directory" not in told

    def test_fails_in_a_work_tree_without_entries(self, machine, stub, tmp_path):
        Repository(machine.repository).commit()
        machine.connect("claude-code", stub.url)
        told = self.doctor(machine, add_tree(machine, tmp_path / "tree"))
        assert "FAIL an agent is connected here: none: this work tree of" in told.stdout
        assert "Connect with --user" in told.stdout

    def test_is_content_with_the_users_own_entry_in_every_place(self, connected_user, tmp_path):
        places = [connected_user.repository, connected_user.repository / "sub"]
        places[1].mkdir()
        places.append(add_tree(connected_user, tmp_path / "tree"))
        for place in places:
            told = self.doctor(connected_user, place)
            assert "FAIL" not in told.stdout, told.stdout
            assert "ok   claude-code (your own entry): it is quiet in other repositories" in told.stdout

    def test_fails_where_it_is_not_quiet_elsewhere(self, claude):
        claude.launcher.write_text("#!/bin/sh\necho '{}'; exit 1\n")
        assert "FAIL claude-code (your own entry): it is quiet" in claude.icp("doctor").stdout


@pytest.mark.deep
class TestConnecting:
    @pytest.mark.parametrize("agent", CLIENTS)
    def test_puts_one_entry_into_the_users_settings_and_none_into_the_repository(self, machine, agent):
        connect_user(machine, agent)
        assert entries_of(machine) == [".git"]
        text = home_text(machine, agent)
        assert " user" in text or ', "user"' in text
        again = machine.icp("connect", agent, "--user", "--url", "http://127.0.0.1:9", ICP_TOKEN="icp_secret")
        assert (home_text(machine, agent), again.returncode) == (text, 0)

    @pytest.mark.parametrize("agent", CLIENTS)
    def test_disconnecting_leaves_nothing_behind(self, machine, agent):
        before = tree_of(machine)
        connect_user(machine, agent)
        done = machine.icp("disconnect", agent, "--user")
        assert done.returncode == 0, done.stderr
        assert [path for path in tree_of(machine) if path not in before and "/" in path.strip("/")] == []
        assert not machine.config.exists()

    @pytest.mark.parametrize("agent", CLIENTS)
    def test_neither_does_disconnecting_a_repository(self, machine, agent):
        machine.connect(agent)
        assert machine.icp("disconnect", agent).returncode == 0
        assert entries_of(machine) == [".git"]
        assert not machine.config.exists()

    def test_moves_the_repositorys_own_entries(self, machine):
        machine.connect("claude-code")
        connect_user(machine, "claude-code")
        assert entries_of(machine) == [".git"]

    def test_a_second_repository_needs_no_second_entry(self, machine, tmp_path):
        connect_user(machine, "claude-code")
        text = home_text(machine, "claude-code")
        machine.repository = Repository(tmp_path / "second").root
        done = machine.connect("claude-code")
        assert "by your own entry" in done.stdout
        assert entries_of(machine) == [".git"]
        assert home_text(machine, "claude-code") == text

    def test_the_last_repository_goes_and_the_entry_stays_quiet(self, machine):
        connect_user(machine, "claude-code")
        done = machine.icp("disconnect", "claude-code")
        assert "is not connected any more" in done.stdout
        assert json.loads((machine.config / "connections.json").read_text()) == {}
        assert ask(machine, machine.repository).stdout == "{}\n"

    def test_a_second_workspace_says_what_it_replaces(self, machine):
        machine.connect("claude-code", "http://127.0.0.1:9")
        done = machine.icp("connect", "codex", "--url", "http://127.0.0.1:8", ICP_TOKEN="icp_other_one")
        assert "Replaced: all agents of" in done.stdout
        assert "http://127.0.0.1:9" in done.stdout
        assert "icp_secret" not in done.stdout
        again = machine.icp("connect", "codex", "--url", "http://127.0.0.1:8", ICP_TOKEN="icp_other_one")
        assert "Replaced" not in again.stdout


def home_text(machine, agent):
    return (machine.home / CLIENTS[agent].user_file[2:]).read_text()


def tree_of(machine):
    return sorted(str(path.relative_to(machine.home)) for path in machine.home.rglob("*") if path.is_file())


@pytest.fixture
def connected_user(tmp_path, server):
    tokens = server.workspace("places")
    (tmp_path / "m").mkdir()
    machine = Machine(tmp_path / "m")
    Repository(machine.repository).commit()
    done = machine.icp("connect", "claude-code", "--user", "--url", server.url, ICP_TOKEN=tokens["agent"])
    assert done.returncode == 0, done.stderr
    return machine


def entries_of(machine):
    return sorted(path.name for path in machine.repository.iterdir())
