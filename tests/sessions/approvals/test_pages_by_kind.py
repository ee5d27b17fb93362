"""Pages of approvals: live grants, requests that are no calls, hostile text, costs."""

from __future__ import annotations

import re

from intents.models import Intent
from sessions.models import AgentSession, Approval, ApprovalGrant
from tests import builders
from tests.sessions.approvals.approval_builders import LIST, ROOT, ask, card, decide, edit, page
from traces.models import LedgerEntry

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


def test_a_completion_shows_what_proves_each_criterion(acme, asked, agent, rexs):
    Intent.objects.update(acceptance_criteria=["It works", "It is fast", HOSTILE])
    agent.post("sessions/s-1/traces", {"path": "src/auth/a.ts", "content": "x\n"})
    agent.gate("Bash", command="git status")
    evidence = [
        {"type": "trace", "path": "src/auth/a.ts"},
        {"type": "command", "command": "git status", "exit_status": 1},
        {"type": "note", "text": HOSTILE},
    ]
    claims = [{"criterion": number, "evidence": evidence} for number in (1, 3)]
    body = {"verification_notes": "done", "acceptance_evidence": claims}
    answer = agent.post("sessions/s-1/complete-intent", body)
    wanted = Approval.objects.get(public_id=answer.json()["approval"]["id"])
    text = page(rexs, card(wanted))
    trace, command = LedgerEntry.objects.get(kind="trace"), LedgerEntry.objects.get(tool="Bash")
    for entry, words in ((trace, "src/auth/a.ts"), (command, "git status")):
        assert f'?entry={entry.pk}"><code><bdi>{words}</bdi></code>' in text
    assert re.search(r"exit status 1</span>,\s+by the agent(&#x27;|')s word", text)
    assert "Criteria without evidence: 1 of 3." in text
    assert "You confirm the evidence for 2 criteria." in text
    assert "not confirmed yet" in text
    assert HOSTILE not in text
    decide(rexs, wanted)
    assert "confirmed by <bdi>Rex</bdi>" in page(rexs, card(wanted))


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
    assert "Not available" in text


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
        with django_assert_max_num_queries(33):
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
