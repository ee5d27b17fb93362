"""What an auditor finds on the ledger's page and takes home from it."""

from __future__ import annotations

import pytest

from tests.traces.builders import append as append_entry
from tests.traces.builders import decision, tamper
from traces.ledger import proofs
from traces.ledger.sealing import seal

pytestmark = pytest.mark.django_db


@pytest.fixture
def sealed(acme):
    append_entry(decision(workspace_id=acme.pk, body={"tool": "<b>"}))
    seal(acme.pk)
    return acme


def test_the_page_shows_the_head_and_verifies_on_request(client, sealed, ivy):
    client.force_login(ivy)
    body = client.get("/w/acme/traces/ledger/").content.decode()
    assert bytes(proofs.find_head(sealed.pk).root).hex() in body
    assert "Verification" not in body
    assert "Verified:" in client.get("/w/acme/traces/ledger/?verify=1").content.decode()
    tamper("UPDATE traces_ledgerbody SET body = %s", [b"{}"])
    assert "BODY_CHANGED" in client.get("/w/acme/traces/ledger/?verify=1").content.decode()


def test_an_empty_ledger_has_a_page_and_no_head(client, acme, ivy):
    client.force_login(ivy)
    assert client.get("/w/acme/traces/ledger/").status_code == 200
    assert client.get("/w/acme/traces/ledger/checkpoint").status_code == 404


def test_a_ledger_that_takes_too_long_is_verified_by_command(client, sealed, ivy, monkeypatch):
    monkeypatch.setattr("traces.pages.ledger.MAX_VERIFY", 0)
    client.force_login(ivy)
    answer = client.get("/w/acme/traces/ledger/?verify=1")
    assert answer.context["report"] is None
    assert "verify_ledger --workspace acme" in answer.content.decode()


def test_an_auditor_takes_the_head_and_the_verifier_home(client, sealed, ivy):
    client.force_login(ivy)
    head = client.get("/w/acme/traces/ledger/checkpoint")
    assert head.content.decode() == proofs.find_head(sealed.pk).note
    assert head["Content-Disposition"] == 'attachment; filename="acme-1.txt"'
    program = b"".join(client.get("/w/acme/traces/ledger/verifier").streaming_content)
    assert program.startswith(b'"""Check proofs of the ledger without the product')


def test_strangers_see_nothing_of_the_ledger(client, sealed, max_):
    client.force_login(max_)
    for path in ("", "checkpoint", "verifier"):
        assert client.get(f"/w/acme/traces/ledger/{path}").status_code == 404
