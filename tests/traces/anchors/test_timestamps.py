"""Heads are stamped by an authority, here OpenSSL's own, and OpenSSL checks what a bundle brings."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile

import pytest

from controlplane.shared.http_post import PostResponse, TargetError
from tests.builders import signed_in
from tests.programs import require
from tests.traces.anchors.test_schedule import ACTOR, fresh, grow, word
from traces.anchors import schedule, targets
from traces.anchors.schedule import send_due_heads
from traces.anchors.timestamps import read_time
from traces.models import AnchorKind, HeadTimestamp

pytestmark = pytest.mark.django_db
CONFIG = """
[tsa]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
"""


class Authority:
    """A time-stamping authority with a certificate of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "tsa.cnf").write_text(CONFIG.format(folder=folder))
        (folder / "serial").write_text("01\n")
        self.openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
            "-subj", "/CN=authority", "-addext", "extendedKeyUsage=critical,timeStamping",
        )  # fmt: skip

    def openssl(self, *words, check=True):
        command = ["openssl", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=check)

    def stamp(self, query):
        (self.folder / "query").write_bytes(query)
        self.openssl(
            "ts", "-reply", "-config", "tsa.cnf", "-section", "tsa", "-queryfile", "query", "-signer", "cert.pem",
            "-inkey", "key.pem", "-out", "answer",
        )  # fmt: skip
        return (self.folder / "answer").read_bytes()


@pytest.fixture
def authority(tmp_path, monkeypatch):
    require(None if shutil.which("openssl") else "openssl is missing: install the Debian package openssl")
    made = Authority(tmp_path)

    def post(_url, body, headers, *, max_bytes):
        assert headers["Content-Type"] == "application/timestamp-query"
        answer = made.stamp(body)
        assert len(answer) < max_bytes
        return PostResponse(200, "", answer)

    monkeypatch.setattr(targets.http_post, "post", post)
    return made


@pytest.fixture
def anchor(acme, authority):
    return schedule.add_anchor(acme, AnchorKind.TIMESTAMP, "https://tsa.example/", 1, actor=ACTOR)


def test_a_head_is_stamped_and_openssl_verifies_what_the_bundle_brings(acme, ivy, anchor, authority):
    head = grow(acme)
    assert send_due_heads() == 1
    assert word(anchor) == "ok"
    grow(acme)
    answer = signed_in(ivy).get("/w/acme/traces/export?format=evidence")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as bundle:
        bundle.extractall(authority.folder)
    assert (authority.folder / "stamped-head.txt").read_text() == head.note
    verify = ("ts", "-verify", "-data", "stamped-head.txt", "-in", "stamp.tsr", "-CAfile", "cert.pem")
    done = authority.openssl(*verify)
    assert "Verification: OK" in done.stdout + done.stderr
    (authority.folder / "stamped-head.txt").write_text(head.note.replace("\n", "\n\n", 1))
    assert authority.openssl(*verify, check=False).returncode != 0


def test_a_stamp_on_something_else_and_no_stamp_are_failures(acme, anchor, authority, monkeypatch):
    grow(acme)
    send_due_heads()
    token = bytes(HeadTimestamp.objects.get().token)
    with pytest.raises(TargetError, match="something else"):
        read_time(token, b"x" * 32)
    for broken in (
        b"",
        b"<html>",
        token[:40],
        b"\x30\x05\x30\x03\x02\x01\x02",
        token.replace(b"\x30", b"\x31"),
    ):
        with pytest.raises(TargetError):
            read_time(broken, b"x" * 32)
    monkeypatch.setattr(targets.http_post, "post", lambda *_, **__: PostResponse(500, "closed", b"closed"))
    assert not schedule.send_head(anchor, grow(acme))
    assert "answered 500: closed" in fresh(anchor).answer
    assert HeadTimestamp.objects.count() == 1
