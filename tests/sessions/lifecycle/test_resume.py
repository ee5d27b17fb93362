"""A conversation that its client ended goes on; one that a person ended or froze does not."""

from __future__ import annotations

import pytest

from sessions.models import AgentSession, ApprovalGrant
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

IN_SCOPE = {"file_path": "src/auth/a.ts", "content": "x"}
OUTSIDE = {"file_path": "docs/a.md", "content": "x"}


@pytest.fixture
def ended(acme, agent):
    """A conversation at work on INT-001 that its client has ended."""
    builders.intent(acme)
    builders.intent(acme, "INT-000", owned_scope=["src/other/**"])
    agent.select("INT-001")
    assert agent.gate("Write", **IN_SCOPE)["decision"] == "allow"
    agent.post("sessions/s-1/end")
    return agent


def events():
    return list(LedgerEntry.objects.filter(kind="session").order_by("pk").values_list("outcome", flat=True))


def test_a_call_takes_it_up_again_with_a_fresh_mandate(ended):
    answer = ended.gate("Write", **IN_SCOPE)
    assert (answer["error_type"], answer["reason"]) == ("MISSING_OR_INVALID_INTENT", "none_selected")
    assert answer["error"].startswith("You must cite a valid active Intent ID.")
    assert answer["error"].index("INT-001") < answer["error"].index("INT-000")
    session = ended.get("sessions/s-1").json()
    assert (session["state"], session["intent_id"], session["resumed_from"]) == ("REQUEST", None, "INT-001")
    assert session["ended_at"] is None
    assert events()[-2:] == ["ended", "resumed"]


def test_an_opening_takes_it_up_again_and_offers_its_intent_first(ended):
    opened = ended.post("sessions", {"session_id": "s-1"}).json()
    assert (opened["created"], opened["state"], opened["resumed_from"]) == (False, "REQUEST", "INT-001")
    assert opened["available_intents"][0]["id"] == "INT-001"
    assert "It worked under INT-001: select that again" in opened["prompt"]
    assert "CANNOT write code immediately" in opened["prompt"]


def test_after_the_handshake_it_works_on(ended):
    assert ended.select("INT-001")["success"] is True
    assert ended.gate("Write", **IN_SCOPE)["decision"] == "allow"
    assert AgentSession.objects.count() == 1


def test_it_may_take_another_intent_and_its_own_may_go_to_another(acme, ended):
    other = builders.speaker(acme)
    assert other.select("INT-001", session="s-2")["success"] is True
    assert ended.select("INT-001")["error_type"] == "INTENT_CONFLICT"
    assert ended.select("INT-000")["success"] is True


def test_it_ends_and_goes_on_as_often_as_its_client_likes(ended):
    for _ in range(3):
        assert ended.select("INT-001")["success"] is True
        ended.post("sessions/s-1/end")
    assert events().count("resumed") == 3


@pytest.mark.parametrize("first", ["client", "person"])
def test_one_that_a_person_ended_stays_ended(acme, ended, first):
    if first == "person":
        ended.gate("Read", file_path="README.md")
    assert builders.speaker(acme, "reviewer").post("sessions/s-1/end").status_code == 200
    assert ended.gate("Write", **IN_SCOPE)["reason"] == "ended"
    assert ended.select("INT-001")["error_type"] == "SESSION_ENDED"
    assert ended.post("sessions", {"session_id": "s-1"}).json()["state"] == "ENDED"


def test_a_frozen_one_stays_ended(ended):
    AgentSession.objects.all().apply_change(frozen=True)
    assert ended.gate("Write", **IN_SCOPE)["error_type"] == "SESSION_ENDED"
    assert AgentSession.objects.get().ended


def test_another_token_cannot_take_it_up(acme, ended):
    other = builders.speaker(acme)
    assert other.post("gate", {"session_id": "s-1", "tool": "Write", "input": IN_SCOPE}).status_code == 403
    assert AgentSession.objects.get().ended


def test_its_grants_ended_with_it(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    approval = agent.gate("Write", **OUTSIDE)["approval"]["id"]
    reviewer = builders.speaker(acme, "reviewer")
    decided = reviewer.post(f"approvals/{approval}/decide", {"action": "approve", "grant": "session"})
    assert decided.status_code == 200
    assert agent.gate("Write", **OUTSIDE)["decision"] == "allow"
    agent.post("sessions/s-1/end")
    agent.select("INT-001")
    assert agent.gate("Write", **OUTSIDE)["decision"] == "ask"
    assert ApprovalGrant.objects.get().revoked_at is not None


def test_a_dry_run_says_what_the_call_would_meet_and_takes_nothing_up(ended):
    answer = ended.gate("Write", dry_run=True, **IN_SCOPE)
    assert answer["reason"] == "none_selected"
    assert AgentSession.objects.get().ended
