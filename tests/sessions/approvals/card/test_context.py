"""The background of a card: goal, session, events, other agents, past decisions, code owners."""

from __future__ import annotations

from controlplane.models import Workspace
from tests import builders
from tests.sessions.approvals.approval_builders import AGENT, ROOT, ask, edit
from tests.sessions.approvals.card.builders import decide


def test_the_context_tells_goal_session_events_and_others(acme, at_work, drawn):
    other = builders.speaker(acme)
    builders.intent(acme, "INT-003", owned_scope=["docs/**"])
    other.select("INT-003", "s-2")
    other.post("sessions/s-2/traces", {"path": "docs/design.md", "content": "x"})
    context = drawn(edit(at_work)).context
    assert context.goal is not None
    assert [criterion.text for criterion in context.goal.criteria] == ["It works"]
    assert (context.session.id, context.session.calls, context.session.held) == ("s-1", 1, 1)
    assert len(context.events) <= 5
    assert context.events[0].object == "docs/design.md"
    assert context.others[0].text.startswith("holds INT-003")
    assert "INT-003 wrote docs/design.md" in context.others[1].text
    assert context.others_note == ""


def test_past_decisions_on_the_same_path_for_the_same_reason(at_work, rex, ada, drawn):
    waiting = edit(at_work)
    for user, action, comment in ((rex, "approve", ""), (ada, "reject", "hand it over")):
        decide(edit(at_work, new_string=f"by {user}"), user, action, comment=comment)
    decide(edit(at_work, "docs/elsewhere.md"), rex)
    context = drawn(waiting).context
    assert [(event.outcome, event.text) for event in context.past] == [
        ("rejected", "Rejected, by Ada: hand it over"),
        ("approved", "Once, by Rex"),
    ]
    assert context.pattern == "docs/design.md"


def test_a_second_wording_of_what_was_refused_is_pointed_out(at_work, rex, drawn):
    first = edit(at_work)
    second = ask(at_work, "Write", file_path=f"{ROOT}/docs/design.md", content="two")
    decide(first, rex, "reject", comment="no")
    edit_again = {"file_path": f"{ROOT}/docs/design.md", "old_string": "one", "new_string": "two"}
    assert at_work.gate("Edit", root=ROOT, agent=AGENT, **edit_again)["decision"] == "deny"
    assert "Similar to a call that was denied" in drawn(second).context.alert


def test_the_code_owners_of_the_files_are_named(acme, at_work, drawn, tmp_path):
    (tmp_path / "CODEOWNERS").write_text("docs/ @acme/writers\n")
    Workspace.objects.filter(pk=acme.pk).update(local_root=str(tmp_path))
    context = drawn(edit(at_work)).context
    assert context.others_note == "No other open intent owns it. Code owners: @acme/writers."
