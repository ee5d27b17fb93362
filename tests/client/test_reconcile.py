"""`icp.py reconcile` as it is served, in a real repository, against a real server."""

from __future__ import annotations

import json

import pytest

from controlplane.client import head_witness
from controlplane.client.commands.answer_proof import check_answer
from controlplane.client.connection import ControlPlaneError
from tests.client.git_repository import IDENTITY, Repository
from tests.client.machine import Machine, Reply


class Ada:
    """A machine with a git repository, and an agent's session that works in it."""

    def __init__(self, folder, server, slug):
        self.machine, self.server = Machine(folder), server
        (self.machine.repository / ".git").rmdir()
        self.repository = Repository(self.machine.repository)
        self.tokens = server.workspace(slug)
        server.select(self.tokens["agent"], "s-1")
        self.first = self.repository.commit("first")

    def writes(self, path, text):
        """A governed write: asked for, done, traced."""
        token = self.tokens["agent"]
        assert self.server.gate(token, "s-1", "write_file", path=path, content=text)[1]["decision"] == "allow"
        self.repository.write(path, text)
        assert (
            self.server.api(token, "POST", "sessions/s-1/traces", {"path": path, "content": text})[0] == 201
        )

    def reconcile(self, *arguments, url="", **env):
        named = {"ICP_URL": url or self.server.url, "ICP_TOKEN": self.tokens["agent"], **IDENTITY, **env}
        return self.machine.icp("reconcile", *arguments, **named)


@pytest.fixture
def ada(tmp_path, server, request):
    return Ada(tmp_path, server, f"w{abs(hash(request.node.name)) % 10**9}")


def test_governed_work_is_explained_and_ends_with_0(ada):
    ada.writes('src/auth/it\'s "ü".ts', "a\n")
    ada.repository.commit()
    done = ada.reconcile(f"{ada.first}..HEAD")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "1 files: 1 explained" in done.stdout
    assert 'it\'s "ü".ts' in done.stdout
    listed = ada.server.api(ada.tokens["agent"], "GET", "reconciliations")[1]["results"]
    assert [one["counts"]["explained"] for one in listed] == [1]


def test_lines_by_hand_beside_those_of_a_call_are_told_and_end_with_0(ada):
    ada.writes("src/auth/a.ts", "a\n")
    base = ada.repository.commit()
    ada.repository.write("src/auth/a.ts", "a\nby hand\n")
    token, edit = ada.tokens["agent"], {"old_string": "by hand\n", "new_string": "by hand\nb\n"}
    call = {"path": "src/auth/a.ts", "tool_use_id": "t-2"}
    assert ada.server.gate(token, "s-1", "Edit", **call, **edit)[1]["decision"] == "allow"
    trace = call | {"content": "a\nby hand\nb\n"}
    assert ada.server.api(token, "POST", "sessions/s-1/traces", trace)[0] == 201
    ada.repository.write("src/auth/a.ts", "a\nby hand\nb\n")
    ada.repository.commit()
    shown = ada.reconcile(f"{base}..HEAD")
    assert shown.returncode == 0, shown.stderr + shown.stdout
    assert "1 files: 1 explained" in shown.stdout
    assert "some lines are of a person" in shown.stdout


def test_a_change_by_hand_is_a_finding_and_ends_with_1(ada):
    ada.writes("src/auth/a.ts", "a\n")
    ada.repository.write("src/auth/a.ts", "a;\n")
    ada.repository.write("-ha\nnd.txt", "x")
    ada.repository.commit()
    shown = ada.reconcile("--base", ada.first, "--no-post")
    assert "-ha\\nnd.txt" in shown.stdout
    done = ada.reconcile("--base", ada.first, "--json", "--no-post")
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert {one["path"]: one["reason"] for one in answer["findings"]} == {
        "src/auth/a.ts": "changed_after_trace", "-ha\nnd.txt": "unreadable_path",
    }  # fmt: skip
    assert ada.server.api(ada.tokens["agent"], "GET", "reconciliations")[1]["results"] == []


def test_what_cannot_be_told_ends_with_2(ada, stub):
    ada.repository.write("a", "a")
    ada.repository.commit()
    for arguments, more in (
        (["nowhere..HEAD"], {}),
        ([], {}),
        ([f"{ada.first}..HEAD"], {"ICP_TOKEN": "icp_wrong"}),
        ([f"{ada.first}..HEAD"], {"url": "http://127.0.0.1:9"}),
        ([f"{ada.first}..HEAD"], {"PATH": "/nowhere"}),
        ([f"{ada.first}..HEAD", "--no-such"], {}),
    ):
        done = ada.reconcile(*arguments, **more)
        assert done.returncode == 2, (arguments, more, done.stdout)
        assert done.stderr


@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b"<html>", b'{"findings": [], "explained": [], "counts": {}}', b'{"findings": 1}']
)
def test_an_answer_that_does_not_speak_of_the_files_explains_nothing(ada, stub, body):
    stub.reply = Reply(body=body)
    ada.repository.write("a", "a")
    ada.repository.commit()
    assert ada.reconcile(f"{ada.first}..HEAD", url=stub.url).returncode == 2


def test_notes_hold_a_record_for_each_commit_and_disturb_nobodys(ada):
    ada.writes("src/auth/a.ts", "one\n")
    first = ada.repository.commit()
    ada.writes("src/auth/a.ts", "two\n")
    second = ada.repository.commit()
    ada.writes("src/auth/b.ts", "b\n")
    third = ada.repository.commit()
    ada.repository.git("notes", "--ref", "agent-trace", "add", "-m", "of somebody else", third)
    done = ada.reconcile(f"{ada.first}..HEAD", "--notes")
    assert done.returncode == 0, done.stderr
    assert "someone else" in done.stderr
    notes = {
        one: ada.repository.git("notes", "--ref", "agent-trace", "show", one)
        for one in (first, second, third)
    }
    assert notes[third] == "of somebody else"
    for commit_id in (first, second):
        record = json.loads(notes[commit_id])
        assert (record["version"], record["vcs"]["revision"]) == ("0.1.0", commit_id)
        assert [file["path"] for file in record["files"]] == ["src/auth/a.ts"]
        assert record["files"][0]["conversations"][0]["related"][0]["url"] == "urn:icp:intent:INT-001"
    assert json.loads(notes[first])["files"] != json.loads(notes[second])["files"]
    before = ada.repository.git("rev-parse", "refs/notes/agent-trace")
    assert ada.reconcile(f"{ada.first}..HEAD", "--notes").returncode == 0
    assert ada.repository.git("rev-parse", "refs/notes/agent-trace") == before


def test_git_tells_of_links_modes_and_removals_that_no_trace_records(ada):
    ada.repository.write("src/auth/guard.ts", "".join(f"line {n}\n" for n in range(40)))
    start = ada.repository.commit()
    ada.writes("src/auth/m.sh", "run\n")
    ada.writes("src/auth/ln", "../../secret")
    ada.writes("src/auth/copy.ts", "".join(f"line {n}\n" for n in range(41)))
    root = ada.machine.repository
    (root / "src/auth/m.sh").chmod(0o755)
    (root / "src/auth/ln").unlink()
    (root / "src/auth/ln").symlink_to("../../secret")
    (root / "src/auth/guard.ts").unlink()
    ada.repository.commit()
    done = ada.reconcile(f"{start}..HEAD", "--json")
    found = {one["path"]: one["reason"] for one in json.loads(done.stdout)["findings"]}
    assert done.returncode == 1
    assert found == {
        "src/auth/m.sh": "mode_changed",
        "src/auth/ln": "type_changed",
        "src/auth/copy.ts": "removal_not_traced",
    }


class TestVerify:
    """`--verify`: the answer is proven against the head that this machine has kept."""

    @pytest.fixture
    def work(self, ada):
        ada.writes("src/auth/a.ts", "a\n")
        ada.repository.commit()
        return ada

    def test_an_explained_range_is_proven_and_the_head_kept(self, work):
        for _ in range(2):
            shown = work.reconcile(f"{work.first}..HEAD", "--verify")
            assert shown.returncode == 0, shown.stderr
            assert "proven: 3 entries (1 with content) against" in shown.stderr
        file = work.machine.config / "heads.json"
        (head,) = json.loads(file.read_text()).values()
        assert head["size"] > 3
        assert file.stat().st_mode & 0o777 == 0o600

    def test_another_history_ends_with_2(self, work):
        assert work.reconcile(f"{work.first}..HEAD", "--verify").returncode == 0
        file = work.machine.config / "heads.json"
        kept = file.read_text()
        for change, words in (
            (lambda head: {"root": "00" * 32}, "another history"),
            (lambda head: {"size": head["size"] + 100}, "Now there are only"),
            (lambda head: {"log": "other.example/log"}, "Now the ledger is called"),
        ):
            forged = {key: head | change(head) for key, head in json.loads(kept).items()}
            file.write_text(json.dumps(forged))
            shown = work.reconcile(f"{work.first}..HEAD", "--verify")
            assert (shown.returncode, shown.stdout) == (2, "")
            assert words in shown.stderr
            told = work.machine.icp("witness", ICP_URL=work.server.url, ICP_TOKEN=work.tokens["agent"])
            assert told.returncode == 1
            assert words in told.stderr
            assert json.loads(file.read_text()) == forged  # what contradicts is not replaced

    def test_an_answer_that_says_more_than_it_proves_ends_with_2(self, work, tmp_path, monkeypatch):
        monkeypatch.setattr(head_witness, "CONFIG_DIR", str(tmp_path))
        monkeypatch.setattr(head_witness, "HEADS", str(tmp_path / "none" / "heads.json"))
        monkeypatch.setattr(head_witness, "write_atomically", lambda *_: None)
        answer = json.loads(work.reconcile(f"{work.first}..HEAD", "--verify", "--json").stdout)
        body = {"files": [{"path": "src/auth/a.ts", "content_hash": None}]}
        connection = {"url": "http://127.0.0.1:9", "token": "icp_x"}  # a first head needs no second request
        for change, words in (
            (lambda said: said.pop("proof"), "brings no proof"),
            (lambda said: said["proof"]["entries"].clear(), "is not proven"),
            (lambda said: said["explained"][0].update(entry_id="other"), "other is not proven"),
            (lambda said: said["explained"][0].update(session_id="s-2"), "is of another session"),
            (lambda said: said["explained"][0].update(entry_id=None), "no entry is named"),
            (lambda said: said["proof"]["entries"][0].update(seq=0), "is not in the ledger"),
            (lambda said: [one.update(body="{}") for one in said["proof"]["entries"] if one["body"]], "not the recorded"),
            (lambda said: body["files"][0].update(content_hash="sha256:00"), "does not record its content"),
        ):  # fmt: skip
            forged = json.loads(json.dumps(answer))
            change(forged)
            with pytest.raises(ControlPlaneError, match=words):
                check_answer(connection, body, forged)
