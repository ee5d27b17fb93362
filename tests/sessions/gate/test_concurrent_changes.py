"""Two agents at one file: seen, told, and by policy asked about or refused; never missed in a race."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from controlplane.models import Workspace
from sessions.gate import check, snapshot_cache
from sessions.lifecycle.end import end_session
from sessions.models import AgentSession
from tests import builders
from traces.ledger.append import read_body
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

PATH = "src/auth/login.py"


@pytest.fixture
def other(acme):
    """Another agent in a session of its own, on INT-002."""
    return builders.speaker(acme)


@pytest.fixture
def at_work(acme, agent, other):
    """Two agents that both have src/auth/** in scope: s-1 on INT-001, s-2 on INT-002."""
    builders.intent(acme, "INT-001")
    builders.intent(acme, "INT-002", owned_scope=["src/auth/login.py", "src/other/**"])
    assert agent.select("INT-001")["success"]
    assert other.select("INT-002", session="s-2")["success"]
    return agent


def policy(workspace, **keys):
    Workspace.objects.filter(pk=workspace.pk).update(policy=keys, revision=F("revision") + 1)


def write(agent, path=PATH, session="s-1", **more):
    return agent.gate("write_to_file", session, path=path, content="x", **more)


def changed(other, path=PATH, session="s-2"):
    answer = other.post(f"sessions/{session}/traces", {"path": path, "content": "theirs"})
    assert answer.status_code == 201, answer.content


def reasons(answer):
    return [(one["reason"], one["by"]) for one in answer.get("conflicts", [])]


def test_who_works_alone_sees_nothing_of_it(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    assert "conflicts" not in write(agent)


def test_a_file_of_another_intent_in_progress_is_marked(at_work):
    answer = write(at_work)
    assert answer["decision"] == "allow"
    assert reasons(answer) == [("owned_by_other_intent", "INT-002")]
    assert "conflicts" not in write(at_work, "src/auth/other.py")


def test_an_intent_that_is_not_in_progress_owns_nothing(acme, at_work, other):
    end_session(AgentSession.objects.get(session_id="s-2"), "test")
    builders.intent(acme, "INT-003")
    snapshot_cache.forget_all()
    assert reasons(write(at_work, "src/auth/other.py")) == []


def test_what_another_session_changed_since_is_marked_until_it_is_looked_at(at_work, other):
    write(at_work, "src/auth/a.py")
    changed(other, "src/auth/a.py")
    assert reasons(write(at_work, "src/auth/a.py")) == [("changed_by_other_session", "s-2")]
    changed(other, "src/auth/a.py")
    at_work.gate("read_file", path="src/auth/a.py")
    assert reasons(write(at_work, "src/auth/a.py")) == []
    changed(other, "src/auth/a.py")
    assert reasons(write(at_work, "src/auth/a.py")) == [("changed_by_other_session", "s-2")]


def test_what_was_changed_before_the_session_began_is_no_conflict(acme, agent, other):
    builders.intent(acme, "INT-001")
    builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    other.select("INT-002", session="s-2")
    changed(other, "src/auth/a.py")
    agent.select("INT-001")
    assert reasons(write(agent, "src/auth/a.py")) == []


def test_a_session_that_has_ended_is_nobody_to_wait_for(at_work, other):
    changed(other, "src/auth/a.py")
    end_session(AgentSession.objects.get(session_id="s-2"), "test")
    assert reasons(write(at_work, "src/auth/a.py")) == []


def test_the_mark_is_in_the_record(at_work):
    answer = write(at_work)
    body = read_body(LedgerEntry.objects.get(entry_id=answer["decision_id"]))
    assert body["conflicts"] == answer["conflicts"]


def test_the_timeline_tells_it(acme, at_work, rex):
    write(at_work)
    page = builders.signed_in(rex).get(f"/w/{acme.slug}/sessions/s-1").content.decode()
    assert f"{PATH} is owned by INT-002 as well." in page


def test_policy_asks_and_a_person_decides_who_goes_first(acme, at_work, other, reviewer):
    policy(acme, conflicts="ask")
    changed(other, "src/auth/a.py")
    held = write(at_work, "src/auth/a.py")
    assert (held["decision"], held["error_type"], held["reason"]) == (
        "ask",
        "STALE_FILE",
        "changed_by_other_session",
    )
    assert held["action_hint"] == "read_file"
    decided = reviewer.post(
        f"approvals/{held['approval']['id']}/decide", {"action": "approve", "grant": "once"}
    )
    assert decided.status_code == 200
    assert write(at_work, "src/auth/a.py")["decision"] == "allow"


def test_policy_refuses_and_nobody_is_asked(acme, at_work, other):
    policy(acme, conflicts="deny")
    answer = write(at_work)
    assert (answer["decision"], answer["error_type"]) == ("deny", "INTENT_CONFLICT")
    assert answer["reason"] == "owned_by_other_intent"
    assert "INT-002" in answer["error"]
    changed(other, "src/auth/a.py")
    answer = write(at_work, "src/auth/a.py")
    assert (answer["decision"], answer["reason"]) == ("deny", "changed_by_other_session")
    assert "s-2" in answer["error"]
    at_work.gate("read_file", path="src/auth/a.py")
    assert write(at_work, "src/auth/a.py")["decision"] == "allow"


def test_a_change_between_look_and_record_is_not_missed(acme, at_work, other, monkeypatch):
    """The other agent's change is committed after the decision was made and before it is recorded."""
    policy(acme, conflicts="deny")
    write(at_work, "src/auth/a.py")  # known as untouched from now on
    judge, raced = check.decide_request, []

    def race(request, snapshot):
        outcome = judge(request, snapshot)
        if not raced:
            raced.append(outcome.decision.verdict)
            changed(other, "src/auth/a.py")
        return outcome

    monkeypatch.setattr(check, "decide_request", race)
    assert write(at_work, "src/auth/a.py")["decision"] == "deny"
    assert raced == ["allow"]


def test_a_known_path_costs_no_query_more(at_work):
    write(at_work, "src/auth/a.py")
    with CaptureQueriesContext(connection) as captured:
        write(at_work, "src/auth/a.py")
    assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) <= 2
    with CaptureQueriesContext(connection) as captured:
        write(at_work, "src/auth/new.py")
    assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) <= 3


def test_explaining_tells_it(at_work, other):
    changed(other, "src/auth/a.py")
    call = {"session_id": "s-1", "tool": "write_to_file", "input": {"path": "src/auth/a.py", "content": "x"}}
    steps = at_work.post("explain", call).json()["steps"]
    assert "changed_by_other_session: s-2" in next(step["saw"] for step in steps if step["number"] == 7)
