"""A dry run decides like the gate and leaves no trace."""

from __future__ import annotations

import pytest

from sessions.models import AgentSession, Approval
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

OUT_OF_SCOPE = {"file_path": "docs/design.md", "content": "# no\n"}


def test_a_dry_run_records_nothing_and_opens_nothing(acme, agent):
    builders.intent(acme)
    before = LedgerEntry.objects.count()
    answer = agent.gate("Write", dry_run=True, **OUT_OF_SCOPE)
    assert answer["decision"] == "ask"
    assert answer["approval"] is answer["decision_id"] is None
    assert not AgentSession.objects.exists()
    assert not Approval.objects.exists()
    assert LedgerEntry.objects.count() == before


def test_a_dry_run_of_the_handshake_takes_nothing(acme, agent):
    builders.intent(acme)
    answer = agent.gate("select_active_intent", dry_run=True, intent_id="INT-001")
    assert answer["decision"] == "allow"
    assert not AgentSession.objects.exists()
