"""Where a trace seals what its call brought, reconcile tells a person's lines from those of the agent."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from tests.sessions.reconciliation.calls import ROOT, changed, found, sha, trace, write
from traces.ledger.sealing import seal

PATH = "src/auth/b.ts"
BASE, BY_HAND, BOTH = "a\n", "a\nby hand\n", "a\nby hand\nby the agent\n"


def hooked_write(agent, before, after, session="s-1"):
    """A write that the hook reports with the text before and after it."""
    agent.gate("Write", session, file_path=f"{ROOT}/{PATH}", content=after, root=ROOT, cwd=ROOT)
    call = {
        "session_id": session,
        "cwd": ROOT,
        "tool_name": "Write",
        "tool_input": {"file_path": f"{ROOT}/{PATH}", "content": after},
        "tool_response": {"filePath": f"{ROOT}/{PATH}", "content": after, "originalFile": before},
    }
    headers = {"Authorization": f"Bearer {agent.secret}"}
    path = "/hooks/claude-code/PostToolUse"
    answer = agent.client.post(path, call, content_type="application/json", headers=headers)
    assert answer.status_code == 200, answer.content


def from_base(text, **more):
    return changed(PATH, text, old_content_hash=sha(BASE), **more)


def outcome(agent, file, **more):
    return found(agent, file, query="?dry_run=1", status=200, **more)[PATH]


def test_a_call_that_wrote_what_was_there_does_not_explain_what_a_person_wrote(working):
    hooked_write(working, BY_HAND, BY_HAND)
    assert outcome(working, from_base(BY_HAND)) == ("unexplained", "changed_before_trace")


def test_an_agents_own_text_stays_explained_when_it_is_written_again(working):
    hooked_write(working, BASE, BOTH)
    hooked_write(working, BOTH, BOTH)
    hooked_write(working, BOTH, BOTH, session="s-2")
    assert outcome(working, from_base(BOTH)) == ("explained", "traced")


def test_an_empty_file_that_an_agent_created_is_explained(working):
    write(working, PATH, "")
    assert outcome(working, changed(PATH, "", status="A")) == ("explained", "traced")


def test_lines_of_a_person_beside_those_of_the_agent_are_told(working):
    hooked_write(working, BY_HAND, BOTH)
    assert outcome(working, from_base(BOTH)) == ("explained", "traced_beside_others")
    assert outcome(working, changed(PATH, BOTH, status="A")) == ("explained", "traced_beside_others")


def test_an_edit_by_hand_between_two_traces_is_told(working):
    hooked_write(working, BASE, "a\nfirst\n")
    hooked_write(working, "a\nfirst\nby hand\n", BOTH)
    assert outcome(working, from_base(BOTH)) == ("explained", "traced_beside_others")


def test_a_chain_of_sessions_from_the_base_is_the_agents(working):
    hooked_write(working, BASE, "a\nfirst\n")
    hooked_write(working, "a\nfirst\n", "a\nsecond\n", session="s-2")
    hooked_write(working, "a\nsecond\n", "a\nfirst\n", session="s-2")
    hooked_write(working, "a\nfirst\n", BOTH)
    assert outcome(working, from_base(BOTH)) == ("explained", "traced")


@pytest.mark.parametrize("more", [{}, {"session_id": "s-1"}, {"intent_id": "INT-001"}])
def test_what_is_not_known_is_not_told(working, more):
    hooked_write(working, BY_HAND, BOTH)
    file = from_base(BOTH) if more else changed(PATH, BOTH)  # only some traces, or no content before
    assert outcome(working, file, **more) == ("explained", "traced")


def test_a_chain_that_begins_with_an_unknown_content_is_not_told(working):
    working.gate("Write", file_path=f"{ROOT}/{PATH}", content=BY_HAND, root=ROOT, cwd=ROOT)
    trace(working, PATH, BY_HAND)
    hooked_write(working, BY_HAND, BOTH)
    assert outcome(working, from_base(BOTH)) == ("explained", "traced")


def test_it_is_told_after_the_bodies_were_released_as_well(acme, working, tmp_path):
    hooked_write(working, BY_HAND, BOTH)
    seal(acme.pk)
    options = ["--before", "100000", "--to", str(tmp_path), "--every-entry", "--release"]
    call_command("archive_ledger", "--workspace", "acme", *options)
    assert outcome(working, from_base(BOTH)) == ("explained", "traced_beside_others")
