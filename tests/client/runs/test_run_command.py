"""`icp.py run -- COMMAND` and the MCP tool `run_command`: the gate decides, the command runs contained."""

from __future__ import annotations

import json
import os
import shlex
import sys

import pytest

from tests.client.machine import Machine, Reply
from tests.client.runs.test_contained_call import ask, connected, server

__all__ = ["connected", "server"]

GENERATE = "python3 scripts/gen.py"


@pytest.fixture(scope="module")
def tokens(server):
    return server.workspace("run-command")


@pytest.fixture
def program(connected: Machine) -> list[str]:
    """The command line of the installed program, as a hook writes it."""
    return [os.path.realpath(sys.executable), "-I", "-S", str(connected.config / "icp.py")]


def call_run_command(machine: Machine, **arguments: str) -> tuple[str, bool]:
    """Return the text of `run_command` by the MCP server of the client, and whether it is an error."""
    params = {"name": "run_command", "arguments": arguments}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    done = machine.run(str(machine.launcher), "mcp", "claude-code", given=f"{line}\n")
    result = json.loads(done.stdout)["result"]
    return result["content"][0]["text"], result.get("isError", False)


class TestForPeople:
    def test_a_command_runs_contained_and_its_status_is_passed_on(self, connected, program):
        done = connected.run(*program, "run", "--session", connected.session, "--", *GENERATE.split())
        assert (done.returncode, done.stdout) == (7, "generated\n"), done.stderr
        assert "src/auth/made.py landed; docs/made.md waits for approval" in done.stderr
        assert (connected.repository / "src/auth/made.py").exists()
        assert not (connected.repository / "docs").exists()

    def test_a_write_in_scope_is_recorded_too(self, connected, program, server, tokens):
        (connected.repository / "src/auth").mkdir(parents=True)
        script = "echo 'by hand' > src/auth/hand.ts"
        done = connected.run(*program, "run", "--session", connected.session, "--", script)
        assert "src/auth/hand.ts landed" in done.stderr
        _, listed = server.api(tokens["reviewer"], "GET", "traces?path=src/auth/hand.ts")
        assert len(listed["results"]) == 1

    def test_a_command_that_only_reads_runs_as_it_is(self, connected, program):
        done = connected.run(*program, "run", "--session", connected.session, "--", "ls", "scripts")
        assert (done.returncode, done.stdout, done.stderr) == (0, "gen.py\n", "")

    def test_what_the_gate_refuses_is_not_run(self, connected, program):
        done = connected.run(*program, "run", "--session", connected.session, "--", "touch", "docs/x.md")
        assert done.returncode == 126
        assert "Scope Violation" in done.stderr
        assert not (connected.repository / "docs").exists()

    def test_an_intent_can_be_taken_with_it(self, connected, program, server, tokens):
        server.api(tokens["agent"], "POST", f"sessions/{connected.session}/end")
        connected.session = "by-hand"
        words = ["run", "--session", "by-hand", "--intent", "INT-001", "--", *GENERATE.split()]
        done = connected.run(*program, *words)
        assert (done.returncode, done.stdout) == (7, "generated\n"), done.stderr


class TestForModels:
    def test_the_tool_returns_the_output_and_what_became_of_the_changes(self, connected):
        text, is_error = call_run_command(connected, command=GENERATE, session_id=connected.session)
        assert not is_error
        assert text.startswith("generated\n")
        assert "src/auth/made.py landed; docs/made.md waits for approval" in text
        assert text.endswith("exit status 7")

    def test_a_denial_is_an_error_with_the_words_of_the_gate(self, connected):
        text, is_error = call_run_command(connected, command="touch docs/x", session_id=connected.session)
        assert is_error
        assert "Scope Violation" in text
        assert not (connected.repository / "docs").exists()

    def test_the_hook_lets_the_call_of_the_tool_pass(self, connected):
        call = {"tool_name": "mcp__icp__run_command", "tool_input": {"command": GENERATE}}
        payload = {"session_id": connected.session, "hook_event_name": "PreToolUse", "tool_use_id": "t-1"}
        done = connected.hook("claude-code", payload={**payload, **call, "cwd": str(connected.repository)})
        assert (done.returncode, done.stdout) == (0, "{}\n")


class TestAnOwnCall:
    """The hook asks the gate about every call but those that run this client's own program."""

    def rewrite(self, machine: Machine) -> str:
        return str(ask(machine, GENERATE)[0]["updatedInput"]["command"])

    def test_the_changed_call_passes_a_second_hook(self, connected):
        command = self.rewrite(connected)
        assert ask(connected, command)[0] == {}
        done = connected.run(*shlex.split(command))
        assert done.returncode == 7

    def test_two_hooks_of_one_call_store_one_run(self, connected):
        assert self.rewrite(connected) == self.rewrite(connected)

    @pytest.mark.parametrize("more", ["; touch docs/x", " && touch docs/x", "\ntouch docs/x", " >docs/x"])
    def test_with_more_than_the_run_it_is_asked_about(self, connected, more):
        output, _ = ask(connected, self.rewrite(connected) + more)
        assert output["permissionDecision"] == "deny" or "updatedInput" in output

    def test_of_another_conversation_it_is_asked_about(self, connected):
        command, session = self.rewrite(connected), connected.session
        connected.session = "another"
        output, _ = ask(connected, command)
        connected.session = session
        assert output["permissionDecision"] == "deny"

    def test_a_run_that_nobody_allowed_is_asked_about(self, connected):
        head, _, _ = self.rewrite(connected).rpartition(" ")
        assert ask(connected, f"{head} {'f' * 32}")[0] != {}

    def test_another_home_holds_no_runs(self, connected):
        """Whoever can set HOME could store runs that no gate has allowed."""
        command, forged = self.rewrite(connected), connected.home.parent / "forged"
        forged.mkdir()
        (forged / ".config").symlink_to(connected.home / ".config")
        (forged / ".local").symlink_to(connected.home / ".local")
        done = connected.run(*shlex.split(command), HOME=str(forged))
        assert done.returncode == 126
        assert "was HOME changed?" in done.stderr

    def test_another_control_plane_lands_nothing(self, connected, stub):
        stub.reply = Reply(body=b'{"land": ["docs/made.md"], "hold": [], "discard": []}')
        command = self.rewrite(connected)
        done = connected.run(*shlex.split(command), ICP_URL=stub.url, ICP_TOKEN="icp_x")
        assert done.returncode == 7
        assert stub.asked == []
        assert not (connected.repository / "docs").exists()

    @pytest.mark.parametrize(
        ("words", "is_own"),
        [
            ("npm test", True),
            ("echo 'a; b'", True),
            ("npm test; touch docs/x", False),
            ("npm test > docs/x", False),
            ("echo $(touch docs/x)", False),
            ('echo "$X"', False),
        ],
    )
    def test_to_run_a_command_it_asks_itself(self, connected, program, words, is_own):
        output, _ = ask(connected, f"{shlex.join(program)} run -- {words}")
        assert (output == {}) is is_own
