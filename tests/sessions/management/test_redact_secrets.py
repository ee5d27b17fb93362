"""Secrets that were stored under older rules can be found, and taken out."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from controlplane.shared.masking import MASK
from sessions.models import Approval
from tests import builders
from traces.ledger.append import NewEntry, append
from traces.models import LedgerBody, LedgerEntry

pytestmark = pytest.mark.django_db
COMMAND = "curl -H 'X-Api-Key: abcdef0123' https://example.com"


@pytest.fixture
def old_entry(acme):
    """An entry as an older version wrote it."""
    body = {"tool": "Bash", "input": {"command": COMMAND}, "decision": "allow"}
    entry = NewEntry(workspace_id=acme.pk, kind="decision", session_id="s-1", outcome="allow", body=body)
    return append(entry)


def run(capsys, *arguments: str) -> str:
    call_command("redact_secrets", "--workspace", "acme", *arguments)
    return capsys.readouterr().out


def test_it_lists_what_it_would_redact_and_changes_nothing(old_entry, capsys):
    assert old_entry.entry_id in run(capsys)
    assert LedgerBody.objects.filter(entry_id=old_entry.id).exists()


def test_it_redacts_by_request_and_says_who_did_it(old_entry, capsys):
    run(capsys, "--apply", "--actor", "ada")
    assert not LedgerBody.objects.filter(entry_id=old_entry.id).exists()
    redaction = LedgerEntry.objects.get(kind="redaction")
    assert b'"ada"' in bytes(redaction.envelope)
    assert "0 entries" in run(capsys)


def test_it_leaves_what_is_masked_already(acme, agent, capsys):
    builders.intent(acme)
    agent.select("INT-001")
    agent.gate("Bash", command=COMMAND)
    assert "0 entries and 0 calls" in run(capsys)


def test_it_masks_the_calls_of_approvals(acme, agent, capsys):
    builders.intent(acme)
    agent.select("INT-001")
    agent.gate("Write", file_path="docs/a.md", content="x")
    approval = Approval.objects.get()
    Approval.objects.update(call={**approval.call, "input": {"command": COMMAND}})
    assert "1 calls" in run(capsys)
    run(capsys, "--apply")
    assert MASK in str(Approval.objects.get().call)
    assert "abcdef0123" not in str(Approval.objects.get().call)
