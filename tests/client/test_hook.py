"""What the hook sends, and what it makes of an answer."""

from __future__ import annotations

import hashlib
import json
import subprocess

import pytest

from controlplane.client.agents import CLIENTS
from tests.client.machine import ALLOWED, Reply

ABC = "sha256:" + hashlib.sha256(b"abc").hexdigest()
DENIED = {"X-ICP-Decision": "deny"}


def denial(agent: str, reason: str = "Scope Violation") -> Reply:
    """As the control plane words it in the client's form."""
    body = CLIENTS[agent].refuse(CLIENTS[agent].gates.split()[0], reason)
    return Reply(body=json.dumps(body).encode(), headers=DENIED)


@pytest.fixture
def claude(machine, stub):
    machine.connect("claude-code", stub.url)
    return machine


def written(path: str) -> dict:
    return {"session_id": "s-1", "tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}}


class TestWhatIsSent:
    def test_the_payload_goes_out_whole_with_the_token_to_the_events_address(self, claude, stub):
        claude.hook("claude-code", payload=written("a.ts"))
        path, headers, _ = stub.asked[0]
        assert path == "/hooks/claude-code/PreToolUse"
        assert headers["Authorization"] == "Bearer icp_secret"
        assert stub.payload().items() >= written("a.ts").items()

    def test_beside_it_go_root_and_waiting_time(self, claude, stub):
        claude.hook("claude-code", payload=written("a.ts"))
        told = stub.payload()["icp"]
        assert (told["root"], told["wait_seconds"]) == (str(claude.repository), 0)

    @pytest.mark.parametrize(("agent", "held"), [("claude-code", 50), ("copilot", 25), ("cline", 0)])
    def test_a_human_is_waited_for_where_that_is_asked_for_and_as_long_as_the_client_does(
        self, machine, stub, agent, held
    ):
        machine.icp("connect", agent, "--url", stub.url, "--token", "icp_x", "--wait", "600")
        machine.hook(agent)
        assert stub.payload()["icp"]["wait_seconds"] == held

    def test_an_existing_file_is_hashed_and_a_missing_one_is_said_to_be_missing(self, claude, stub):
        (claude.repository / "a.ts").write_text("abc")
        payload = {
            "tool_input": {"edits": [{"file_path": "a.ts"}, {"path": str(claude.repository / "b.ts")}]}
        }
        claude.hook("claude-code", payload=payload)
        assert stub.payload()["icp"]["current_content_hashes"] == {"a.ts": ABC, "b.ts": None}

    def test_of_a_command_that_failed_only_files_count_that_it_may_have_changed(self, claude, stub):
        (claude.repository / "a.ts").write_text("abc")
        payload = {
            "tool_name": "Bash",
            "tool_input": {"command": "echo x > a.ts && false"},
            "error": "Exit code 1",
        }
        claude.hook("claude-code", "PostToolUseFailure", {**payload, "duration_ms": 600_000})
        assert stub.payload()["icp"]["current_content_hashes"] == {"a.ts": ABC}
        claude.hook("claude-code", "PostToolUseFailure", payload)
        assert stub.payload()["icp"]["current_content_hashes"] == {}, "how long it ran is not known"

    def test_the_files_of_a_patch_are_hashed(self, claude, stub):
        (claude.repository / "a.ts").write_text("abc")
        patch = "*** Begin Patch\n*** Update File: a.ts\n*** Add File: new.ts\n+x\n*** End Patch"
        claude.hook("claude-code", payload={"tool_input": {"command": patch}})
        assert stub.payload()["icp"]["current_content_hashes"] == {"a.ts": ABC, "new.ts": None}

    def test_a_relative_path_starts_at_the_payloads_folder(self, claude, stub):
        (claude.repository / "src").mkdir()
        (claude.repository / "src" / "a.ts").write_text("abc")
        claude.hook("claude-code", payload={**written("a.ts"), "cwd": str(claude.repository / "src")})
        assert stub.payload()["icp"]["current_content_hashes"] == {"src/a.ts": ABC}

    def test_nothing_outside_the_repository_is_read(self, claude, stub):
        (claude.home / "secret").write_text("abc")
        (claude.repository / "link").symlink_to(claude.home / "secret")
        payload = {"tool_input": {"files": ["../home/secret", "link", "/dev/zero"]}}
        claude.hook("claude-code", payload=payload)
        assert stub.payload()["icp"]["current_content_hashes"] == {}

    def test_links_are_told_with_the_place_that_they_lead_to(self, claude, stub):
        root = claude.repository
        (root / "src").mkdir()
        for name, place in {"src/in": "../docs", "out": str(claude.home), "self": ".", "same": "src"}.items():
            (root / name).symlink_to(place)
        command = f"cd src; echo 'x'>src/in/y && cat {root}/out/z plain /dev/zero ../x;touch self/a \\0 same"
        payload = {"cwd": str(root), "tool_input": {"command": command, "file_path": "src/in", "note": "out"}}
        claude.hook("claude-code", payload=payload)
        assert stub.payload()["icp"]["links"] == {
            "src/in": "docs", "src/in/y": "docs/y", "out/z": str(claude.home.resolve() / "z"), "self/a": "a", "same": "src",
        }  # fmt: skip

    def test_a_large_file_gets_the_same_hash_as_any_other(self, claude, stub):
        text = b"x" * 1024 * 1024
        (claude.repository / "a.ts").write_bytes(text)
        claude.hook("claude-code", payload=written("a.ts"))
        wanted = f"sha256:{hashlib.sha256(text).hexdigest()}"
        assert stub.payload()["icp"]["current_content_hashes"] == {"a.ts": wanted}

    def test_a_subfolder_is_of_the_same_repository(self, claude, stub):
        (claude.repository / "src").mkdir()
        variable = {"CLAUDE_PROJECT_DIR": str(claude.repository / "src")}
        assert claude.hook("claude-code", **variable).returncode == 0
        assert stub.payload()["icp"]["root"] == str(claude.repository)

    def test_the_environment_wins_over_what_is_kept(self, claude, stub):
        claude.hook("claude-code", ICP_URL=stub.url, ICP_TOKEN="icp_of_ci")
        assert stub.asked[0][1]["Authorization"] == "Bearer icp_of_ci"


class TestRevision:
    COMMIT = "4d311c5" + "0" * 33

    def sent(self, machine, stub):
        machine.hook("claude-code")
        return stub.payload()["icp"]["revision_id"]

    def git(self, folder, *command):
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        done = subprocess.run(
            ["git", *identity, *command], cwd=folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    @pytest.fixture
    def committed(self, claude):
        self.git(claude.repository, "init", "-q")
        self.git(claude.repository, "commit", "-q", "--allow-empty", "-m", "One")
        return self.git(claude.repository, "rev-parse", "HEAD")

    def test_of_a_branch(self, claude, stub, committed):
        assert self.sent(claude, stub) == committed

    def test_of_a_packed_branch(self, claude, stub, committed):
        self.git(claude.repository, "pack-refs", "--all")
        assert self.sent(claude, stub) == committed

    def test_of_a_detached_head(self, claude, stub, committed):
        self.git(claude.repository, "checkout", "-q", "--detach")
        assert self.sent(claude, stub) == committed

    def test_of_a_worktree(self, claude, stub, committed):
        tree = claude.home / "tree"
        self.git(claude.repository, "worktree", "add", "-q", str(tree), "-b", "other")
        claude.hook("claude-code", CLAUDE_PROJECT_DIR=str(tree), ICP_URL=stub.url, ICP_TOKEN="icp_x")
        assert stub.payload()["icp"]["revision_id"] == committed

    def test_none_before_the_first_commit(self, claude, stub):
        assert self.sent(claude, stub) == ""


class TestAnswers:
    def test_no_objection_is_printed_as_it_came(self, claude, stub):
        stub.reply = Reply(body=b'{"hookSpecificOutput": {"additionalContext": "\xc3\xa4"}}')
        done = claude.hook("claude-code")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == {"hookSpecificOutput": {"additionalContext": "ä"}}

    @pytest.mark.parametrize("agent", CLIENTS)
    def test_a_denial_of_the_gate_is_said_as_the_client_understands_it(self, machine, stub, agent):
        machine.connect(agent, stub.url)
        stub.reply = denial(agent)
        done = machine.hook(agent)
        assert done.returncode == CLIENTS[agent].status
        assert json.loads(done.stdout) == json.loads(stub.reply.body)
        assert done.stderr == ("Scope Violation\n" if CLIENTS[agent].status else "")

    def test_a_denial_in_the_header_alone_counts(self, claude, stub):
        stub.reply = Reply(headers=DENIED)
        assert claude.hook("claude-code").returncode == 2

    def test_a_denial_in_the_body_alone_counts(self, claude, stub):
        stub.reply = Reply(body=denial("claude-code").body, headers=ALLOWED)
        assert claude.hook("claude-code").returncode == 2

    def test_chunks_of_a_proxy_are_put_together(self):
        from controlplane.client.http_post import parse_response  # noqa: PLC0415  the one part tested by itself

        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert parse_response(head + b"1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n")[2] == b"{}"
        for cut in (b"", b"1\r\n{\r\n", b"5\r\n{}"):
            with pytest.raises(ValueError):
                parse_response(head + cut)

    def test_the_reason_tells_the_model_what_failed(self, machine):
        machine.connect("gemini-cli")
        reason = json.loads(machine.hook("gemini-cli").stdout)["reason"]
        assert "cannot be reached" in reason
        assert "must not run" in reason

    @pytest.mark.parametrize("event", ["PreTooluse", "Stop", ""])
    def test_an_event_that_is_not_in_the_table_refuses(self, claude, stub, event):
        done = claude.run(str(claude.launcher), "claude-code", event, given="{}")
        assert (done.returncode, stub.asked) == (2, [])
        assert "must not run" in done.stderr

    @pytest.mark.parametrize("arguments", [(), ("claude-code",), ("nobody", "PreToolUse")])
    def test_a_mistake_in_the_command_refuses(self, claude, arguments):
        assert claude.run(str(claude.launcher), *arguments, given="{}").returncode == 2

    def test_an_event_that_refuses_nothing_does_not_disturb_the_client(self, machine):
        machine.connect("claude-code")
        done = machine.hook("claude-code", "PostToolUse")
        assert (done.returncode, done.stdout) == (0, "{}\n")
        assert "cannot be reached" in done.stderr

    def test_input_that_never_ends_is_not_waited_for(self, claude):
        command = f"sleep 20 | {claude.launcher} claude-code PreToolUse; echo status $?"
        process = subprocess.Popen(
            ["bash", "-c", f"({command}) & sleep 2; kill %1; wait"], stdout=subprocess.PIPE, text=True,
            env={"HOME": str(claude.home), "PATH": "/usr/bin:/bin", "ICP_DEADLINE_SECONDS": "0.5"},
        )  # fmt: skip
        with process.stdout as output:
            assert "permissionDecision" in output.readline()
        process.wait(30)
