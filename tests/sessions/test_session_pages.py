"""Sessions in the browser: the list, a timeline, ending and freezing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from sessions.models import AgentSession
from sessions.pages.rows import PAGE_SIZE
from tests import builders
from tests.sessions.approvals.approval_builders import AGENT, ROOT, edit

LIST = "/w/acme/sessions/"


@pytest.fixture
def working(acme, agent):
    """A session that has read, selected, written, and waits for a person."""
    builders.intent(acme)
    for _ in range(3):
        agent.gate("Read", file_path=f"{ROOT}/src/auth/a.py", root=ROOT, agent=AGENT)
    agent.select("INT-001")
    agent.gate("Write", file_path=f"{ROOT}/src/auth/a.py", content="x", root=ROOT)
    agent.post("sessions/s-1/traces", {"path": "src/auth/a.py", "content": "x"})
    edit(agent)
    return AgentSession.objects.get(session_id="s-1")


def page(client, url=LIST, **query):
    response = client.get(url, query)
    assert response.status_code == 200
    return response.content.decode()


def detail(session_id="s-1"):
    return reverse("sessions:detail", args=["acme", session_id])


def end(client, action="end", session_id="s-1"):
    return client.post(detail(session_id), {"action": action})


def many(acme, agent, count, **fields):
    now = timezone.now()
    AgentSession.objects.bulk_create(
        AgentSession(
            workspace=acme,
            session_id=f"{fields.get('state', 'live')}-{number:03}",
            token=agent.token,
            last_seen_at=now - timedelta(seconds=number),
            opened_at=now,
            **fields,
        )
        for number in range(count)
    )


def test_the_list_shows_live_sessions_with_their_counts(working, rexs):
    text = page(rexs)
    assert "s-1" in text
    assert "Claude Code" in text
    assert "Work of INT-001" in text
    assert '<td class="num">5</td>' in text  # calls
    assert "<b>1</b> active" in text


def test_ended_ones_are_under_all_and_behind_the_live(acme, agent, working, rexs):
    many(acme, agent, 2, state="ENDED")
    assert "ENDED-000" not in page(rexs)
    text = page(rexs, show="all")
    assert text.index("s-1") < text.index("ENDED-000") < text.index("ENDED-001")


def test_pages_follow_each_other_without_gap_or_double(acme, agent, rexs):
    many(acme, agent, PAGE_SIZE + 5)
    many(acme, agent, PAGE_SIZE, state="ENDED")
    seen, query = [], {"show": "all"}
    for _ in range(3):
        rows = rexs.get(LIST, query).context
        seen += [row.id for row in rows["sessions"]]
        if rows["older_url"] is None:
            break
        query = dict(part.split("=") for part in rows["older_url"][1:].split("&"))
    assert len(seen) == len(set(seen)) == 2 * PAGE_SIZE + 5
    assert seen == sorted(seen, key=lambda name: (name.startswith("ENDED"), name))
    assert rows["newer_url"] == "?show=all&"


@pytest.mark.parametrize("cursor", ["x", "1.2", "0.99999999999999999.1", "-1.2.3", "٣.1.1"])
def test_a_cursor_of_nobodys_is_the_first_page(working, rexs, cursor):
    assert "s-1" in page(rexs, cursor=cursor)


def test_a_timeline_in_order(working, rexs):
    text = page(rexs, detail())
    order = [
        text.index(word) for word in ("\N{MULTIPLICATION SIGN}2", "selected INT-001", "Changed", "docs/")
    ]
    assert order == sorted(order)
    assert "revision 2" in text
    assert "<b>1</b> writes" in text
    assert "Did not run" in text


def test_the_timeline_comes_alone_and_filtered(working, rexs):
    fragment = page(rexs, detail(), fragment="timeline")
    assert "<html" not in fragment
    assert 'id="timeline"' in fragment
    assert "\N{MULTIPLICATION SIGN}2" not in page(rexs, detail(), fragment="timeline", show="changes")
    found = page(rexs, detail(), fragment="timeline", q="Read")
    assert "Changed" not in found
    assert page(rexs, detail(), q="nothing \0 like it")


def test_a_timeline_pages_by_keys(working, rexs, monkeypatch):
    monkeypatch.setattr("sessions.pages.views.PAGE_SIZE", 2)
    first = rexs.get(detail()).context["timeline"]
    assert first["later_url"] is None
    earlier = rexs.get(detail() + first["earlier_url"] + "&show=everything").context["timeline"]
    assert earlier["later_url"] is not None
    assert {row.id for row in first["rows"]}.isdisjoint(row.id for row in earlier["rows"])
    later = rexs.get(detail() + earlier["later_url"]).context["timeline"]
    assert [row.id for row in later["rows"]] == [row.id for row in first["rows"]]


def test_a_reviewer_freezes_unfreezes_and_ends(working, agent, rexs):
    assert end(rexs, "freeze").status_code == 302
    call = {"file_path": f"{ROOT}/src/auth/b.py", "content": "x"}
    assert agent.gate("Write", **call)["reason"] == "frozen"
    assert "Unfreeze" in page(rexs, detail())
    end(rexs, "unfreeze")
    assert agent.gate("Write", **call)["decision"] == "allow"
    end(rexs)
    assert agent.gate("Write", **call)["reason"] == "ended"
    text = page(rexs, detail())
    assert "Unfreeze" not in text
    assert "Freeze" not in text
    assert "had already ended" in end(rexs).wsgi_request._messages._queued_messages[0].message


def test_an_auditor_looks_only_and_a_stranger_finds_nothing(working, ivy, max_):
    client = builders.signed_in(ivy)
    assert "End session" not in page(client, detail())
    assert end(client).status_code == 403
    stranger = builders.signed_in(max_)
    for url in (LIST, detail()):
        assert stranger.get(url).status_code == 404
    assert end(stranger).status_code == 404


def test_what_is_no_session_or_no_action_is_404(working, rexs):
    assert rexs.get(detail("other")).status_code == 404
    assert rexs.get(f"{LIST}a%00b").status_code == 404
    assert end(rexs, "shout").status_code == 404
    assert rexs.put(detail("s-1")).status_code == 405


HOSTILE = "<script>alert(1)</script>"


def test_names_that_agents_choose_are_text(acme, agent, rexs):
    builders.intent(acme, name=HOSTILE)
    session = f"a b/{HOSTILE}"
    agent.gate("Read", session, file_path=f"{HOSTILE}\u202e", agent={"name": HOSTILE, "version": HOSTILE})
    for text in (page(rexs), page(rexs, detail(session))):
        assert HOSTILE not in text
        assert "\u202e" not in text
    assert end(rexs, "freeze", session).status_code == 302


def test_queries_do_not_grow_with_rows(acme, agent, working, rexs, django_assert_max_num_queries):
    many(acme, agent, 30)
    for number in range(10):
        agent.gate("Read", f"live-{number:03}", file_path="a")
    with django_assert_max_num_queries(13):
        page(rexs)
    for number in range(20):
        agent.gate("Read", file_path=f"{ROOT}/{number}", root=ROOT)
        agent.post("sessions/s-1/traces", {"path": f"src/auth/{number}.py", "content": "x"})
    with django_assert_max_num_queries(19):
        page(rexs, detail())


@pytest.mark.parametrize("session_id", ["a\nb", "end/s-1", "?x=1#y", "%2e", "a/b/", "\u202eid", HOSTILE])
def test_no_id_breaks_a_page_that_leads_to_its_session(acme, agent, rexs, session_id):
    builders.intent(acme)
    assert agent.post("sessions", {"session_id": "s-1"}).status_code == 201
    AgentSession.objects.update(session_id=session_id)
    assert "1</b> active" in page(rexs)
    assert page(rexs, detail(session_id))
    assert end(rexs, session_id=session_id).status_code == 302
    assert AgentSession.objects.get().state == "ENDED"


@pytest.mark.parametrize("session_id", ["a\nb", "a\x00b", "\u202eid", "\u2028"])
def test_a_session_is_opened_under_no_id_that_cannot_be_read(agent, session_id):
    answer = agent.post("sessions", {"session_id": session_id})
    assert answer.status_code == 400
    assert not AgentSession.objects.exists()
