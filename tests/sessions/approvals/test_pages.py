"""The queue and the card as people meet them: looking and deciding."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from sessions.models import Approval, ApprovalGrant
from tests import builders
from tests.sessions.approvals.approval_builders import AGENT, HTMX, LIST, ROOT, card, decide, edit, page

# --- looking --------------------------------------------------------------------------------------


def test_the_queue_shows_what_waits_and_the_card_what_it_would_do(asked, rexs):
    queue = page(rexs, LIST)
    assert "docs/" in queue
    assert "Outside INT-001; 1 file, no other owner" in queue
    shown = page(rexs, card(asked))
    assert "<del>one</del>" in shown or 'class="del"' in shown
    assert "Not in scope." in shown
    assert "docs/design.md is outside INT-001." in shown
    assert "Approve once" in shown
    assert "Widen the scope" in shown


def test_the_card_leads_to_every_step_of_its_decision(asked, rexs):
    (link,) = re.findall(r'href="(/w/acme/explain/\?decision=[^"]+)"', page(rexs, card(asked)))
    assert link.endswith(asked.decision_id)
    assert "is not authorized to edit [docs/design.md]" in page(rexs, link)


def test_an_auditor_looks_and_does_not_decide(asked, ivy):
    client = builders.signed_in(ivy)
    shown = page(client, card(asked))
    assert "Only a reviewer can decide this." in shown
    assert 'name="action"' not in shown
    assert decide(client, asked).status_code == 403
    assert client.post(card(asked, "extend")).status_code == 403


def test_a_stranger_finds_nothing(asked, max_, client):
    stranger = builders.signed_in(max_)
    for url in (LIST, card(asked)):
        assert stranger.get(url).status_code == 404
    assert stranger.post(card(asked, "decide"), {"action": "approve"}).status_code == 404
    assert stranger.get(f"/w/elsewhere/approvals/{asked.public_id}/").status_code == 404
    assert client.get(LIST).status_code == 302


def test_nobody_decides_for_their_own_session(acme, rex, rexs):
    agent = builders.speaker(acme, acts_for=rex)
    builders.intent(acme)
    agent.select("INT-001")
    own = edit(agent)
    assert "This is your agent&#x27;s request. Another reviewer must decide." in page(rexs, card(own))
    answer = decide(rexs, own)
    assert answer.status_code == 200
    assert "Another reviewer must decide" in answer.content.decode()
    own.refresh_from_db()
    assert own.status == Approval.Status.PENDING


def test_an_empty_queue_says_so_with_live_grants(acme, rexs):
    assert "No pending approvals" in page(rexs, LIST)


def test_fragments_come_alone(asked, rexs):
    for url in (LIST, card(asked)):
        assert page(rexs, url, fragment="count").count("<span") < 5
        queue = page(rexs, url, fragment="queue")
        assert 'id="queue"' in queue
        assert 'hx-swap-oob="true"' in queue
        assert "<html" not in queue
    fragment = page(rexs, card(asked), fragment="card")
    assert fragment.lstrip().startswith("<article")


def test_an_unknown_card_is_404(acme, rexs):
    assert rexs.get(f"{LIST}nothing/").status_code == 404
    assert rexs.post(f"{LIST}nothing/decide/", {"action": "approve"}).status_code == 404


# --- deciding -------------------------------------------------------------------------------------


def test_with_htmx_the_card_comes_back_as_a_receipt_and_the_queue_is_told(asked, agent, rexs):
    answer = decide(rexs, asked, grant="once", comment="fine")
    assert answer.headers["HX-Trigger"] == "icp:approval"
    text = answer.content.decode()
    assert "Approved once by you" in text
    assert "waiting for it to retry" in text
    assert agent.gate("Edit", file_path=f"{ROOT}/docs/design.md", old_string="one", new_string="two",
                      root=ROOT, agent=AGENT)["decision"] == "allow"  # fmt: skip
    assert "Agent retried the call" in page(rexs, card(asked))


def test_without_script_one_is_led_to_the_next_card_with_a_word(asked, agent, rexs):
    other = edit(agent, "docs/other.md")
    answer = decide(rexs, asked, htmx=False)
    assert answer.status_code == 302
    assert answer.url == card(other)
    assert "Approved once by you." in page(rexs, answer.url)
    answer = decide(rexs, other, htmx=False, action="reject", comment="no")
    assert answer.url == LIST


@pytest.mark.parametrize(
    ("grant", "kind", "minutes"),
    [("session", "session", None), ("minutes", "session", 30), ("once", "once", None)],
)
def test_grants_reach_as_far_as_was_chosen(asked, rexs, grant, kind, minutes):
    decide(rexs, asked, grant=grant, minutes="30")
    asked.refresh_from_db()
    assert (asked.status, asked.grant_kind, asked.minutes) == ("APPROVED", kind, minutes)
    given = ApprovalGrant.objects.get(approval=asked)
    assert bool(given.expires_at) == (grant == "minutes")


def test_a_wider_scope_is_a_new_revision_of_the_intent(asked, rexs):
    decide(rexs, asked, grant="scope")
    intent = asked.session.intent
    intent.refresh_from_db()
    assert "docs/design.md" in intent.owned_scope


def test_a_rejection_carries_preset_and_own_words(asked, rexs):
    answer = decide(rexs, asked, action="reject", preset="Ask for the scope first.", comment="Really.")
    asked.refresh_from_db()
    assert asked.status == "REJECTED"
    assert asked.comment == "Ask for the scope first. Really."
    assert "Rejected by you" in answer.content.decode()


def test_the_second_reviewer_is_told_who_was_first_and_keeps_the_note(asked, ada, rexs):
    decide(builders.signed_in(ada), asked)
    answer = decide(rexs, asked, action="reject", comment="my careful note")
    assert answer.status_code == 200
    text = answer.content.decode()
    assert "Approved once by Ada" in text
    assert "Your note was not sent" in text
    assert "my careful note" in text
    without_script = decide(rexs, asked, htmx=False, action="reject", comment="my careful note")
    assert without_script.status_code == 200
    assert "my careful note" in without_script.content.decode()


def test_an_expired_one_says_that_nobody_decided(asked, rexs):
    Approval.objects.filter(pk=asked.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = decide(rexs, asked)
    assert "Timed out, nobody decided" in answer.content.decode()
    asked.refresh_from_db()
    assert asked.status == "EXPIRED"


@pytest.mark.parametrize("htmx", [True, False], ids=["htmx", "page"])
@pytest.mark.parametrize(
    "form",
    [{"grant": "session", "patterns": ["src/other/**"]}, {"grant": "forever"}, {"action": "shrug"}],
    ids=["useless_pattern", "unknown_grant", "unknown_action"],
)
def test_what_the_service_refuses_is_said_on_the_card_and_nothing_is_lost(asked, rexs, form, htmx):
    answer = decide(rexs, asked, htmx=htmx, comment="kept note", **form)
    assert answer.status_code == 200
    text = answer.content.decode()
    assert "kept note" in text
    assert 'class="error"' in text
    asked.refresh_from_db()
    assert asked.status == Approval.Status.PENDING


def test_the_chosen_grant_is_kept_with_the_error(asked, rexs):
    text = decide(rexs, asked, grant="session", patterns=["../up"]).content.decode()
    assert re.search(r'value="session"[^>]* checked', text)


def test_five_more_minutes_once(asked, rexs):
    before = asked.expires_at
    assert rexs.post(card(asked, "extend"), headers=HTMX).status_code == 200
    asked.refresh_from_db()
    assert asked.expires_at - before == timedelta(minutes=5)
    again = rexs.post(card(asked, "extend"), headers=HTMX)
    assert "already extended by five minutes" in again.content.decode()
    assert rexs.post(card(asked, "extend")).status_code == 200  # the page, with the error


@pytest.mark.parametrize("action", ["decide", "extend"])
def test_deciding_needs_a_post(asked, rexs, action):
    assert rexs.get(card(asked, action)).status_code == 405


def test_the_queue_takes_no_post(rexs):
    assert rexs.post(LIST).status_code == 405
