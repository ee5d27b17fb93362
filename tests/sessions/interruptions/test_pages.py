"""The page of interruptions: what it shows to whom, a rule made and taken back."""

from __future__ import annotations

import pytest

from intents.models import WorkspaceRule
from tests import builders
from tests.sessions.interruptions.test_rules import past

pytestmark = pytest.mark.django_db
PAGE = "/w/acme/interruptions/"


@pytest.fixture
def learned(acme, at_work):
    past(acme, "gh pr create", number=6, by="Rex")
    past(acme, "gh pr create", number=6, by="Ana")
    past(acme, "ssh", number=2, by="Ana")
    return acme


def text(client, query=""):
    answer = client.get(PAGE + query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_every_member_reads_the_page_and_only_admins_see_buttons(learned, ada, rex, ivy):
    for user in (ada, rex, ivy):
        page = text(builders.signed_in(user))
        assert "gh pr create" in page
        assert "12 of 12 approved by 2 people" in page
        assert "needs 8 more approvals" in page
        assert ("Make a rule…" in page) is (user is ada)
    assert "Too few calls yet" in page


def test_an_admin_takes_a_learned_rule_over_and_back(learned, ada, rex, at_work):
    page = builders.signed_in(ada)
    assert "0 rejected calls" in text(page, "?make=gh%20pr%20create")
    assert "0 rejected calls" not in text(page, "?make=ssh")
    assert builders.signed_in(rex).post(PAGE + "rules/", {"kind": "gh pr create"}).status_code == 403
    assert page.post(PAGE + "rules/", {"kind": "gh pr create"}).status_code == 302
    rule = WorkspaceRule.objects.get()
    assert (rule.owner, rule.learned_from["approved"]) == ("Ada", 12)
    assert "12 by 2 people" in text(page)
    assert builders.signed_in(rex).post(f"{PAGE}rules/{rule.public_id}/take-back/").status_code == 403
    page.post(f"{PAGE}rules/{rule.public_id}/take-back/")
    assert "revoked by" in text(page)
    page.post(PAGE + "rules/", {"kind": "gh pr create"})  # undo
    assert WorkspaceRule.objects.live().get().number == 2


def test_a_kind_that_nothing_suggests_makes_no_rule(learned, ada):
    page = builders.signed_in(ada)
    assert page.post(PAGE + "rules/", {"kind": "ssh"}).status_code == 404
    assert page.post(PAGE + "rules/", {"kind": ""}).status_code == 404
    assert not WorkspaceRule.objects.exists()


def test_range_agent_and_intent_are_in_the_address(learned, ivy):
    page = builders.signed_in(ivy)
    assert "No approvals in this period." in text(page, "?range=24h&agent=codex")
    assert '<option value="INT-001" selected' not in text(page)
    assert "range=7d&amp;intent=INT-001" in text(
        page, "?intent=INT-001&range=30d"
    ) or "intent=INT-001" in text(page, "?intent=INT-001")
    assert text(page, "?range=for-ever")


def test_hostile_kinds_are_escaped(acme, at_work, ivy):
    past(acme, "<script>alert(1)</script>")
    assert "<script>alert(1)" not in text(builders.signed_in(ivy))


def test_the_overview_tells_how_often_people_are_asked(learned, ivy):
    page = builders.signed_in(ivy).get("/w/acme/").content.decode()
    assert "interruptions/" in page
    assert "14, 100 % approved" in page
