"""Calls read back from the ledger."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.policy.replay import INCOMPLETE, REDACTED
from controlplane.shared.masking import MASK
from tests.traces.builders import HOME, append, decision
from tests.traces.ledger_flush import triggers_off
from traces.entries import recorded_calls
from traces.entries.recorded_calls import CallSelection, find_decision, is_complete_input, to_recorded_call
from traces.models import LedgerBody

pytestmark = pytest.mark.django_db

YESTERDAY = timezone.now() - timedelta(days=1)


def kept(tool="Write", tool_input=None, session="s-1", **fields):
    body = {
        "input": {"file_path": "a.ts"} if tool_input is None else tool_input,
        "cwd": "/home/ada/acme/src",
        "classification": "DESTRUCTIVE",
        "targets": ["src/a.ts"],
    }
    return append(decision(tool=tool, body=body, session_id=session, outcome="ask", agent="codex", **fields))


def read(**selection):
    found = recorded_calls.load_recorded_calls(
        HOME, CallSelection(YESTERDAY, **selection), roots={"s-1": "/home/ada/acme"}, local_root="/srv/acme"
    )
    return list(found)


def test_a_call_comes_back_as_it_was_sent():
    kept(intent_id="INT-001")
    (found,) = read()
    assert (found.tool, found.verdict, found.intent_id, found.targets) == (
        "Write",
        "ask",
        "INT-001",
        ("src/a.ts",),
    )
    assert (found.call.root, found.call.cwd, found.call.agent) == (
        "/home/ada/acme",
        "/home/ada/acme/src",
        "codex",
    )
    assert found.call.input == {"file_path": "a.ts"}


def test_the_folder_is_the_sessions_else_the_workspaces_else_the_calls():
    kept(session="s-2")
    (found,) = read()
    assert found.call.root == "/srv/acme"
    entry = find_decision(HOME, found.decision_id)
    assert to_recorded_call(entry).call.root == "/home/ada/acme/src"


def test_newest_first_of_one_intent_and_no_more_than_asked_for():
    for intent_id in ("INT-001", "INT-002", "INT-001", "INT-001"):
        kept(intent_id=intent_id)
    kept(tool="select_active_intent", intent_id="INT-001")
    found = read(intent_id="INT-001", limit=2)
    assert [one.intent_id for one in found] == ["INT-001", "INT-001"]
    assert found[0].at > found[1].at
    assert len(read()) == 4


def test_what_is_older_is_left_out():
    kept()
    assert list(recorded_calls.load_recorded_calls(HOME, CallSelection(timezone.now()), roots={})) == []


@pytest.mark.parametrize(
    "value",
    [
        {"content": f"password = {MASK}"},
        {"edits": [{"new": "x… [cut: 7 more characters are not stored]"}]},
        {MASK: 1},
    ],
)
def test_a_masked_or_cut_input_is_not_whole(value):
    assert not is_complete_input(value)
    kept(tool_input=value)
    (found,) = read()
    assert (found.call, found.unreplayable_reason) == (None, INCOMPLETE)


def test_numbers_and_nothing_are_whole():
    assert is_complete_input({"a": [1, None, True, "text"]})


def test_a_call_whose_content_was_taken_out_says_so():
    kept()
    with triggers_off():
        LedgerBody.objects.all().delete()
    (found,) = read()
    assert (found.call, found.unreplayable_reason) == (None, REDACTED)
