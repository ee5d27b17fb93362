"""How an approval ended, and what happened since."""

from __future__ import annotations

import pytest

from sessions.approvals import lifecycle
from sessions.approvals.card.build import DecisionDraft
from sessions.approvals.card.receipts import build_receipt
from sessions.lifecycle.end import end_session
from sessions.models import AgentSession, Approval
from tests.builders import signed_in
from tests.sessions.approvals.approval_builders import AGENT, ROOT, card, edit
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
    assert titles(approval, rex) == [title, "Agent notified"]
    edit_call = {"file_path": f"{ROOT}/docs/design.md", "old_string": "one", "new_string": "two"}
    assert at_work.gate("Edit", root=ROOT, agent=AGENT, **edit_call)["decision"] == "allow"
    assert titles(approval, rex) == [title, "Agent retried the call"]


def hook(speaker, event, **payload):
    """What Claude Code sends: before a tool, after it, and after one that failed."""
    call = {"session_id": "s-1", "cwd": ROOT, "hook_event_name": event, "tool_name": "Bash"}
    headers = {"Authorization": f"Bearer {speaker.secret}"}
    address, body = f"/hooks/claude-code/{event}", call | payload
    response = speaker.client.post(address, body, content_type="application/json", headers=headers)
    assert response.status_code == 200, response.content
    return response


ENDED_WELL = {"tool_response": {"stdout": "", "interrupted": False}}
STOPPED = {"tool_response": {"stdout": "", "interrupted": True}}
ENDINGS = {
    "well": (("PostToolUse", ENDED_WELL), ("Ran", " exit status 0 after 1.2 s")),
    "badly": (("PostToolUseFailure", {"error": "Exit code 3\nno such file"}), ("Ran and failed", " exit status 3 after 1.2 s")),
    "stopped": (("PostToolUse", STOPPED), ("Ran", " after 1.2 s")),
}  # fmt: skip


@pytest.mark.parametrize(("report", "step"), ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("grant", ["once", "session"])
def test_a_receipt_says_how_the_call_ended(at_work, rex, grant, report, step):
    call = {"tool_input": {"command": "rm -rf build/1", "description": "Tidy"}, "tool_use_id": "toolu_1"}
    asked = hook(at_work, "PreToolUse", **call)
    assert asked["X-ICP-Decision"] == "ask"
    approval = Approval.objects.get()
    decide(approval, rex, grant=grant)
    assert build_receipt(fresh(approval), rex).is_open
    assert hook(at_work, "PreToolUse", **call)["X-ICP-Decision"] == "allow"
    assert titles(approval, rex)[1:] == ["Agent retried the call"]
    event, ending = report
    hook(at_work, event, **call, **ending, duration_ms=1200)
    receipt = build_receipt(fresh(approval), rex)
    assert receipt.steps[1].title == "Agent retried the call"
    assert (receipt.steps[2].title, receipt.steps[2].detail) == step
    assert not receipt.is_open


def test_the_report_of_another_call_says_nothing_of_this_one(at_work, rex):
    call = {"tool_input": {"command": "rm -rf build/1"}, "tool_use_id": "toolu_1"}
    hook(at_work, "PreToolUse", **call)
    decide(Approval.objects.get(), rex)
    hook(
        at_work,
        "PostToolUse",
        tool_input={"command": "rm -rf build/2"},
        tool_use_id="toolu_2",
        tool_response={},
    )
    assert titles(Approval.objects.get(), rex)[1:] == ["Agent notified"]


def test_numbers_that_no_clock_shows_are_left_out(at_work, rex):
    call = {"tool_input": {"command": "rm -rf build/1"}, "tool_use_id": "toolu_1"}
    hook(at_work, "PreToolUse", **call)
    approval = Approval.objects.get()
    decide(approval, rex)
    hook(at_work, "PostToolUse", **call, tool_response={}, duration_ms="<b>1</b>")
    step = build_receipt(fresh(approval), rex).steps[2]
    assert (step.title, step.detail) == ("Ran", "")


def test_the_fragment_has_content_only_when_something_is_new(at_work, rex, acme):
    approval = edit(at_work)
    decide(approval, rex)
    client, address = signed_in(rex), f"{card(approval)}?fragment=receipt"
    receipt = build_receipt(fresh(approval), rex)
    assert client.get(f"{address}&steps={receipt.version}").status_code == 204
    at_work.post("sessions/s-1/traces", {"path": "docs/design.md", "content": "x"})
    answer = client.get(f"{address}&steps={receipt.version}")
    assert answer.status_code == 200
    assert "Recorded" in answer.content.decode()
    assert "hx-get" not in answer.content.decode(), "nothing more is to come"
    assert answer["HX-Reswap"] == "outerHTML", "so the list itself goes, with what it listens to"


def test_the_list_stays_while_more_is_to_come(at_work, rex):
    """A list that is replaced loses the event that comes during the fetch."""
    approval = edit(at_work)
    decide(approval, rex)
    answer = signed_in(rex).get(f"{card(approval)}?fragment=receipt&steps=")
    assert "hx-get" in answer.content.decode()
    assert "HX-Reswap" not in answer


def test_the_receipt_of_a_run_says_what_landed(at_work, rex):
    command = at_work.gate("Bash", command="npm run build", containment={"overlay": True, "landlock": 7})
    run_id = command["containment"]["run_id"]
    change = {
        "path": "dist/a.js",
        "change": "created",
        "before": None,
        "after": f"sha256:{'0' * 64}",
        "size": 2,
    }
    report = {"exit_code": 0, "duration_ms": 5, "files": [change]}
    assert at_work.post(f"runs/{run_id}/effects", report).json()["hold"] == ["dist/a.js"]
    approval = Approval.objects.get()
    decide(approval, rex)
    assert titles(approval, rex)[1:] == ["Agent notified"]
    assert at_work.post(f"runs/{run_id}/land").json()["land"] == ["dist/a.js"]
    receipt = build_receipt(fresh(approval), rex)
    assert (receipt.steps[-1].title, receipt.steps[-1].detail) == ("Landed", " dist/a.js")
    assert not receipt.is_open


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
