"""How an approval ended, and what happened since."""

from __future__ import annotations

import pytest

from sessions.approvals import lifecycle
from sessions.approvals.card.build import DecisionDraft
from sessions.approvals.card.receipts import build_receipt
from sessions.lifecycle.end import end_session
from sessions.models import AgentSession
from tests.sessions.approvals.approval_builders import AGENT, ROOT, edit
from tests.sessions.approvals.card.builders import decide, fresh


def titles(approval, user):
    return [step.title for step in build_receipt(fresh(approval), user).steps]


def test_a_receipt_follows_the_call_until_it_is_recorded(at_work, rex, ada):
    approval = edit(at_work)
    decide(approval, rex, comment="fine")
    assert titles(approval, rex) == ["Approved once by you", "Agent notified"]
    edit_call = {"file_path": f"{ROOT}/docs/design.md", "old_string": "one", "new_string": "two"}
    assert at_work.gate("Edit", root=ROOT, agent=AGENT, **edit_call)["decision"] == "allow"
    at_work.post("sessions/s-1/traces", {"path": "docs/design.md", "content": "x"})
    assert titles(approval, ada) == ["Approved once by Rex", "Agent retried the call", "Recorded"]


@pytest.mark.parametrize(
    ("choice", "title"),
    [({"grant": "session"}, "Approved for the session by you"), ({"grant": "session", "minutes": 5}, "Approved for 5 min by you"),
     ({"grant": "scope"}, "Approved with a wider scope by you")],
)  # fmt: skip
def test_a_receipt_says_how_far(at_work, rex, choice, title):
    approval = edit(at_work)
    decide(approval, rex, **choice)
    assert titles(approval, rex) == [title]


def test_what_was_not_approved_did_not_run(at_work, rex, acme):
    rejected, cancelled = edit(at_work), edit(at_work, "docs/b.md")
    decide(rejected, rex, "reject", comment="no")
    assert titles(rejected, rex) == ["Rejected by you", "Did not run"]
    end_session(AgentSession.objects.get(session_id="s-1"), "test")
    lifecycle.cancel_pending(AgentSession.objects.get(session_id="s-1"), "test")
    assert titles(cancelled, rex) == ["Cancelled: the session ended", "Did not run"]


def test_a_late_note_is_kept(at_work, rex, ada, drawn):
    approval = edit(at_work)
    decide(approval, ada)
    card = drawn(approval, draft=DecisionDraft(comment="my note"))
    assert card.receipt is not None
    assert (card.receipt.steps[-1].title, card.receipt.steps[-1].detail) == (
        "Your note was not sent",
        " my note",
    )
