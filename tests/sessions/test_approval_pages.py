"""The queue and the card as people meet them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from sessions.models import AgentSession, Approval, ApprovalGrant
from tests import builders
from tests.sessions.asking import AGENT, ROOT, ask, edit

HTMX = {"HX-Request": "true"}
LIST = "/w/acme/approvals/"


def card(approval: Approval, action: str = "") -> str:
    return f"{LIST}{approval.public_id}/{action}{'/' if action else ''}"


def page(client, url: str, **query):
    response = client.get(url, query)
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def decide(client, approval: Approval, *, htmx: bool = True, **form):
    form.setdefault("action", "approve")
    return client.post(card(approval, "decide"), form, headers=HTMX if htmx else {})


@pytest.fixture
def asked(acme, agent) -> Approval:
    builders.intent(acme)
    agent.select("INT-001")
    return edit(agent)


@pytest.fixture
def rexs(rex):
    return builders.signed_in(rex)


# --- looking --------------------------------------------------------------------------------------


def test_the_queue_shows_what_waits_and_the_card_what_it_would_do(asked, rexs):
    queue = page(rexs, LIST)
    assert "docs/" in queue
    assert "Outside INT-001; 1 file that no other intent owns" in queue
    shown = page(rexs, card(asked))
    assert "<del>one</del>" in shown or 'class="del"' in shown
    assert "Not in scope." in shown
    assert "No pattern of INT-001 matches this file." in shown
    assert "Approve once" in shown
    assert "Widen the scope" in shown


def test_an_auditor_looks_and_does_not_decide(asked, ivy):
    client = builders.signed_in(ivy)
    shown = page(client, card(asked))
    assert "A reviewer decides this" in shown
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
    assert "You asked for this; somebody else decides" in page(rexs, card(own))
    answer = decide(rexs, own)
    assert answer.status_code == 200
    assert "somebody else decides" in answer.content.decode()
    own.refresh_from_db()
    assert own.status == Approval.Status.PENDING


def test_an_empty_queue_says_so_with_live_grants(acme, rexs):
    assert "Nothing waits" in page(rexs, LIST)


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
    assert "has not come back yet" in text
    assert agent.gate("Edit", file_path=f"{ROOT}/docs/design.md", old_string="one", new_string="two",
                      root=ROOT, agent=AGENT)["decision"] == "allow"  # fmt: skip
    assert "The same call came back" in page(rexs, card(asked))


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


def test_what_the_service_refuses_is_said_on_the_card_and_nothing_is_lost(asked, rexs):
    for form in (
        {"grant": "session", "patterns": ["src/other/**"]},
        {"grant": "forever"},
        {"action": "shrug"},
    ):
        for htmx in (True, False):
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
    assert "five more minutes before" in again.content.decode()
    assert rexs.post(card(asked, "extend")).status_code == 200  # the page, with the error


def test_reading_does_not_write_and_posting_is_needed_to_decide(asked, rexs):
    for action in ("decide", "extend"):
        assert rexs.get(card(asked, action)).status_code == 405
    assert rexs.post(LIST).status_code == 405


# --- grants ---------------------------------------------------------------------------------------


def test_a_live_grant_is_listed_and_revoked_with_one_click(asked, agent, rexs, ivy):
    decide(rexs, asked, grant="session")
    listed = page(rexs, LIST)
    assert "docs/design.md" in listed
    grant = ApprovalGrant.objects.get(approval=asked)
    url = f"{LIST}grants/{grant.public_id}/revoke/"
    assert url in listed
    assert url not in page(builders.signed_in(ivy), LIST)
    assert builders.signed_in(ivy).post(url).status_code == 403
    assert rexs.post(url).status_code == 302
    grant.refresh_from_db()
    assert grant.revoked_at is not None
    assert url not in page(rexs, LIST)
    assert "Grant revoked" in page(rexs, card(asked))
    assert rexs.post(url).status_code == 302  # over already, said so


def test_a_grant_of_another_workspace_is_404(asked, rexs, max_):
    decide(rexs, asked, grant="session")
    grant = ApprovalGrant.objects.get(approval=asked)
    url = f"/w/elsewhere/approvals/grants/{grant.public_id}/revoke/"
    assert builders.signed_in(max_).post(url).status_code == 404


# --- other kinds ----------------------------------------------------------------------------------


def test_a_scope_request_prints_its_patterns_and_the_known_files(acme, asked, agent, rexs):
    traced = {"path": "docs/known.md", "content": "x"}
    assert agent.post("sessions/s-1/traces", traced).status_code == 201
    answer = agent.post(
        "sessions/s-1/request-scope", {"patterns": ["docs/**"], "reason": "docs belong to it"}
    )
    wanted = Approval.objects.get(public_id=answer.json()["id"])
    text = page(rexs, card(wanted))
    assert "Widen INT-001" in text
    assert "docs/**" in text
    assert "docs/known.md" in text
    assert "docs belong to it" in text
    decide(rexs, wanted)
    wanted.session.intent.refresh_from_db()
    assert "docs/**" in wanted.session.intent.owned_scope


def test_a_completion_shows_criteria_and_notes(acme, asked, agent, rexs):
    answer = agent.post("sessions/s-1/complete-intent", {"verification_notes": "all 41 tests pass"})
    wanted = Approval.objects.get(public_id=answer.json()["approval"]["id"])
    text = page(rexs, card(wanted))
    assert "Complete INT-001" in text
    assert "It works" in text
    assert "all 41 tests pass" in text
    decide(rexs, wanted)
    wanted.session.intent.refresh_from_db()
    assert wanted.session.intent.status == "COMPLETED"


def test_a_completion_that_can_no_longer_be_is_refused_on_the_card(acme, asked, agent, ada, rexs):
    answer = agent.post("sessions/s-1/complete-intent", {"verification_notes": "done"})
    wanted = Approval.objects.get(public_id=answer.json()["approval"]["id"])
    intent = wanted.session.intent
    type(intent).objects.filter(pk=intent.pk).update(status="ABANDONED")
    answer = decide(rexs, wanted)
    assert answer.status_code == 200
    assert "ABANDONED" in answer.content.decode()
    wanted.refresh_from_db()
    assert wanted.status == Approval.Status.PENDING


def test_without_an_intent_no_wider_scope_is_offered(acme, agent, rexs):
    builders.intent(acme)
    text = page(rexs, card(edit(agent)))
    assert "no intent selected" in text
    assert "Not offered" in text


# --- hostile text ---------------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>"
RAW_COMMAND = re.compile(r'<pre [^>]*id="raw-command">.*?</pre>', re.DOTALL)  # never seen, only copied


def test_nothing_an_agent_says_becomes_markup(acme, agent, rexs):
    builders.intent(acme, name=HOSTILE, acceptance_criteria=[HOSTILE])
    session = f"s {HOSTILE.replace(chr(47), chr(45))}"
    agent.select("INT-001", session)
    AgentSession.objects.update(agent_name=HOSTILE)
    path = f"docs/{HOSTILE.replace('/', '-')}\u202egpj.md"
    asked = [
        ask(
            agent, "Write", session, file_path=f"{ROOT}/docs/{HOSTILE.replace('/', '-')}.md", content=HOSTILE
        ),
        ask(agent, "Bash", session, command=f"rm 'docs/x' # {HOSTILE}\u202e"),
        ask(agent, f"mcp__{HOSTILE}", session, anything={"deep": [HOSTILE, path]}),
    ]
    for approval in asked:
        answer = decide(rexs, approval, comment=HOSTILE).content.decode()
        for text in (page(rexs, LIST), page(rexs, card(approval)), answer):
            assert HOSTILE not in text
            assert "\u202e" not in RAW_COMMAND.sub("", text)
    assert HOSTILE not in page(rexs, LIST)


# --- costs ----------------------------------------------------------------------------------------


def test_queries_do_not_grow_with_what_waits(acme, asked, agent, rexs, django_assert_max_num_queries):
    def costs():
        with django_assert_max_num_queries(12):
            page(rexs, LIST)
        with django_assert_max_num_queries(27):
            page(rexs, card(asked))

    costs()
    for number in range(12):
        builders.intent(acme, f"INT-1{number:02}", owned_scope=["docs/**"])
        session = f"other-{number}"
        agent.select(f"INT-1{number:02}", session)
        edit(agent, f"lib/{number}.md", session)
        agent.post(f"sessions/{session}/traces", {"path": "docs/design.md", "content": str(number)})
    for number in range(5):
        decide(rexs, edit(agent, f"docs/{number}.md"), grant="session")
    costs()
