"""The Explain page: trying a call, and looking at a recorded decision."""

from __future__ import annotations

import pytest

from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

PAGE = "/w/acme/explain/"
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def page(ivy):
    return builders.signed_in(ivy)


def tried(page, text, **form):
    answer = page.post(f"{PAGE}preview/", {"kind": "command", "text": text, **form})
    return answer, answer.content.decode()


def test_an_empty_page_offers_intents_and_sessions(page, at_work):
    text = page.get(PAGE).content.decode()
    assert 'value="intent:INT-001"' in text
    assert 'value="session:s-1"' in text


def test_an_auditor_tries_a_command_as_if_an_intent_were_taken(page, at_work):
    answer, text = tried(page, "echo x > docs/a.md", viewpoint="intent:INT-001")
    assert answer.status_code == 200
    assert "docs/a.md" in text
    assert "not_in_scope" in text
    assert text.count("<tr><td") >= 10
    assert "echo x &gt; docs/a.md</textarea>" in text
    assert '<option value="intent:INT-001" selected>' in text


def test_nothing_is_recorded(page, at_work):
    before = LedgerEntry.objects.count()
    tried(page, "rm -rf src", viewpoint="session:s-1")
    assert LedgerEntry.objects.count() == before


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"kind": "write", "text": "src/auth/a.ts", "viewpoint": "session:s-1"}, "Allowed"),
        ({"kind": "read", "text": "README.md"}, "Allowed"),
        ({"kind": "write", "text": "src/auth/a.ts"}, "none_selected"),
        ({"kind": "tool", "tool": "Write", "text": '{"file_path": "../x", "content": ""}'}, "outside"),
    ],
)
def test_paths_and_tools_can_be_tried(page, at_work, form, says):
    answer = page.post(f"{PAGE}preview/", form)
    assert answer.status_code == 200
    assert says in answer.content.decode()


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"kind": "tool", "tool": "Write", "text": "{"}, "not valid JSON"),
        ({"kind": "tool", "tool": "", "text": "{}"}, "field tool"),
        ({"kind": "sorcery", "text": "x"}, "Choose what the text is"),
        ({"kind": "command", "text": "ls", "viewpoint": "intent:INT-404"}, "no such intent"),
        ({"kind": "command", "text": "x" * (1024 * 1024 + 1)}, "over 1048576 bytes"),
    ],
)
def test_what_cannot_be_tried_is_said_on_the_page_and_nothing_typed_is_lost(page, at_work, form, says):
    answer = page.post(f"{PAGE}preview/", form)
    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert f"{form['text'][:20]}" in answer.content.decode()


def test_hostile_text_is_shown_harmlessly(page, at_work):
    _, text = tried(page, f"cat '{HOSTILE}' > '{HOSTILE}'", viewpoint="intent:INT-001")
    assert "<script>alert" not in text


def test_a_recorded_decision_is_shown_with_its_steps_of_today(page, at_work):
    held = at_work.gate("Write", file_path="docs/a.md", content="x")
    text = page.get(PAGE, {"decision": held["decision_id"]}).content.decode()
    assert "Recorded" in text
    assert held["error"] in text.replace("&#x27;", "'")
    assert "Every step" in text
    assert "&quot;file_path&quot;: &quot;docs/a.md&quot;" in text


def test_a_masked_call_says_that_it_cannot_be_decided_again(page, at_work):
    held = at_work.gate("Write", file_path="docs/a.md", content="password = hunter2hunter2")
    text = page.get(PAGE, {"decision": held["decision_id"]}).content.decode()
    assert "cannot be decided again" in text
    assert "Every step" not in text


@pytest.mark.parametrize("decision", ["nothing", "\x00"])
def test_an_unknown_decision_is_not_found(page, decision):
    assert page.get(PAGE, {"decision": decision}).status_code == 404


def test_a_decision_of_another_workspace_is_not_found(max_, at_work):
    held = at_work.gate("Write", file_path="docs/a.md", content="x")
    stranger = builders.signed_in(max_)
    assert stranger.get(PAGE, {"decision": held["decision_id"]}).status_code == 404
    assert stranger.get("/w/elsewhere/explain/", {"decision": held["decision_id"]}).status_code == 404
