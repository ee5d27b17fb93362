"""A bundle of evidence proves its entries without this server, and nothing that was changed in it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile

import pytest
from django.core.management import CommandError, call_command

from tests.builders import signed_in, speaker
from traces.evidence import bundle
from traces.ledger.redaction import redact
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def entry(number):
    return {
        "id": f"e-{number}",
        "timestamp": "2026-02-21T12:00:00Z",
        "files": [{"relative_path": f"src/{number}.py"}],
    }


@pytest.fixture
def grown(agent, monkeypatch):
    """(agent, key, early checkpoint): 300 traces, read in small chunks, and a session."""
    monkeypatch.setattr(bundle, "CHUNK_SIZE", 64)
    agent.post("traces", [entry(number) for number in range(5)])
    early = agent.get("ledger").json()
    agent.post("traces", [entry(number) for number in range(5, 300)])
    agent.post("sessions", {"session_id": "s-1", "agent": {"name": "claude-code"}})
    return agent, early["verifier_key"], early["checkpoint"]


def content_of(answer):
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content)


def verify(folder, content, key, *more):
    """Run the verifier that lies in the bundle, alone."""
    (folder / "evidence.zip").write_bytes(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (folder / "verify.py").write_bytes(archive.read("verify.py"))
    command = [sys.executable, "-I", "-S", "verify.py", "bundle", "evidence.zip", "--key", key, *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def lines_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [json.loads(line) for line in archive.read("entries.jsonl").splitlines()]


def changed(content, name, change):
    """The zip again, with one of its files changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.namelist():
            data = old.read(member)
            new.writestr(member, change(data) if member == name else data)
    return out.getvalue()


def test_a_selection_is_proven_by_what_lies_in_the_zip(grown, tmp_path):
    agent, key, _ = grown
    content = content_of(agent.get("ledger/evidence", kind="trace"))
    done = verify(tmp_path, content, key)
    assert (done.returncode, done.stderr) == (0, "")
    words = "These 300 entries, 300 with their bodies, are what the server sealed for '?kind=trace'."
    assert words in done.stdout
    assert "signed by key" in done.stdout
    assert [line["entry_id"] for line in lines_of(content)] == [f"e-{number}" for number in range(300)]


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("entries.jsonl", lambda data: data.replace(b"e-7", b"e-8", 1), "its entry_id is e-7"),
        ("entries.jsonl", lambda data: b"".join(data.splitlines(keepends=True)[1:]), "not those that were sealed"),
        ("entries.jsonl", lambda data: data.replace(b"src/7.py", b"src/8.py"), "the body of entry 7"),
        ("entries.jsonl", lambda data: data.replace(b'"seq":7,', b'"seq":8,'), "does not lead to the signed root"),
        ("seal.txt", lambda data: data.replace(b"kind=trace", b"kind=other"), "not by this key"),
        ("head.txt", lambda data: data.replace(b"\n30", b"\n31", 1), "not by this key"),
    ],
)  # fmt: skip
def test_what_was_changed_does_not_hold(grown, tmp_path, name, change, words):
    agent, key, _ = grown
    content = content_of(agent.get("ledger/evidence", kind="trace"))
    done = verify(tmp_path, changed(content, name, change), key)
    assert done.returncode == 1
    assert words in done.stderr


def test_a_bundle_continues_the_head_that_the_auditor_kept(grown, tmp_path):
    agent, key, early = grown
    (tmp_path / "old").write_text(early)
    content = content_of(agent.get("ledger/evidence", q="e-7", **{"from": 5}))
    done = verify(tmp_path, content, key, "--old", "old")
    assert "These 1 entries" in done.stdout, done.stderr
    assert "begins with the ledger of 5 entries" in done.stdout
    done = verify(tmp_path, content_of(agent.get("ledger/evidence", q="e-7")), key, "--old", "old")
    assert "not asked for with ?from=SIZE" in done.stderr
    assert agent.get("ledger/evidence", **{"from": 5000}).status_code == 400


def test_bodies_that_a_token_may_not_read_and_redacted_ones_stay_out(grown, tmp_path, acme):
    agent, key, _ = grown
    redact(LedgerEntry.objects.get(entry_id="e-3"), reason="secret", actor="Ada")
    content = content_of(agent.get("ledger/evidence"))
    bodies = {line["entry_id"]: line["body"] for line in lines_of(content) if line["seq"] >= 300}
    assert set(bodies.values()) == {None}
    assert "299 with their bodies" in verify(tmp_path, content, key).stdout
    told = lines_of(content_of(speaker(acme, "reviewer").get("ledger/evidence", kind="session")))
    assert told
    assert all(line["body"] for line in told)


def test_the_page_exports_its_filters_and_the_command_does_the_same(grown, ivy, tmp_path):
    _, key, _ = grown
    answer = signed_in(ivy).get("/w/acme/traces/export?format=evidence&session=s-1")
    done = verify(tmp_path, content_of(answer), key)
    assert "sealed for '?session=s-1'" in done.stdout, done.stderr
    arguments = (
        "export_evidence",
        str(tmp_path / "out.zip"),
        "--workspace",
        "acme",
        "--query",
        "session=s-1",
    )
    call_command(*arguments)
    assert verify(tmp_path, (tmp_path / "out.zip").read_bytes(), key).stdout == done.stdout
    with pytest.raises(CommandError, match="File exists"):
        call_command(*arguments)


def test_nothing_sealed_and_filters_that_are_none_are_said(agent):
    assert agent.get("ledger/evidence", since="yesterday").status_code == 400
    answer = agent.get("ledger/evidence")
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        "Nothing is sealed yet, so nothing can be proven.",
    )
