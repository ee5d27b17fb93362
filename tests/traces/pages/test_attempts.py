"""What was held or denied is found by path, command, approval and commit; a held call is one row everywhere."""

from __future__ import annotations

import pytest

from sessions.models import Approval
from tests import builders
from tests.sessions.adapters import captured
from traces.ledger.sealing import seal
from traces.models import LedgerEntry
from traces.search_index.indexer import index_sealed

pytestmark = pytest.mark.django_db

WORKFLOW = ".github/workflows/ci.yml"
COMMIT = "9f2c4e8ab1d07c35e6f1a2b3c4d5e6f708192a3b"


@pytest.fixture
def agent(acme, agent):
    builders.intent(acme, "INT-001", owned_scope=["src/**"])
    agent.select("INT-001")
    return agent


@pytest.fixture
def ivys(ivy):
    return builders.signed_in(ivy)


@pytest.fixture(params=["new", "indexed"])
def settle(request, acme):
    """Leave the entries as they are, or index them."""

    def run():
        if request.param == "indexed":
            seal(acme.pk)
            index_sealed(acme.pk)

    return run


def hook(speaker, name, tool_input):
    """A call of Claude Code as its hook sends it, with another input."""
    payload = captured.one("claude-code", name).payload | {"session_id": "s-1", "tool_input": tool_input}
    headers = {"Authorization": f"Bearer {speaker.secret}"}
    answer = speaker.client.post(
        "/hooks/claude-code/PreToolUse",
        payload | {"cwd": "/workspace"},
        content_type="application/json",
        headers=headers,
    )
    assert (
        answer.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
    )  # held: not before a person decides
    return payload


def write(speaker, path=WORKFLOW, **call):
    return speaker.gate("Write", file_path=path, content="on: push", **call)


def entries(client, **query):
    answer = client.get("/w/acme/traces/", query)
    assert answer.status_code == 200
    return answer.context["entries"]


def timeline(client, **query):
    return client.get("/w/acme/sessions/s-1", query).context["timeline"]["rows"]


def decide(speaker, approval_id, **body):
    answer = speaker.post(
        f"approvals/{approval_id}/decide", {"action": "approve", "grant": "once", "comment": "fine"} | body
    )
    assert answer.status_code == 200, answer.content


def test_a_held_write_is_found_by_its_path(agent, ivys, settle):
    hook(agent, "PreToolUse-Write", {"file_path": f"/workspace/{WORKFLOW}", "content": "on: push"})
    agent.gate("Write", file_path="src/a.ts", content="x")
    settle()
    for query in (
        {"q": "ci.yml"},
        {"path": WORKFLOW},
        {"path": ".github"},
        {"path": WORKFLOW, "q": "workflows"},
    ):
        (row,) = entries(ivys, **query)
        assert (row["kind"], row["outcome"], row["object"]) == ("decision", "ask", WORKFLOW)
        assert row["verb"] == "Write held"
        assert len(row["numbers"]) == 2
    assert entries(ivys, path="github") == []
    (row,) = timeline(ivys, q="ci.yml")
    assert (row.verb, row.object) == ("Write held", WORKFLOW)


def test_a_held_command_is_found_by_its_words(agent, ivys, settle):
    hook(agent, "PreToolUse-Bash", {"command": "rm -rf migrations"})
    settle()
    for query in ({"q": "RM -rf migr"}, {"q": "migrations"}, {"path": "migrations"}):
        (row,) = entries(ivys, **query)
        assert (row["object"], row["object_is"]) == ("rm -rf migrations", "command")
    assert [row.object for row in timeline(ivys, q="rm -rf")] == ["rm -rf migrations"]


def test_a_denied_read_is_found_and_names_its_file(acme, agent, admin, ivys, settle):
    admin.put("intentignore", ".env*\n")
    hook(agent, "PreToolUse-Read", {"file_path": "/workspace/.env"})
    settle()
    (row,) = entries(ivys, path=".env")
    assert (row["outcome"], row["object"], row["object_is"]) == ("ask", ".env", "path")
    assert ivys.get("/w/acme/traces/map/file/.env").status_code == 200


def test_an_approval_is_found_by_its_id_and_a_trace_by_its_commit(agent, reviewer, ivys, settle):
    approval_id = write(agent)["approval"]["id"]
    decide(reviewer, approval_id)
    decision_id = write(agent)["decision_id"]
    agent.post("sessions/s-1/traces", {"path": "src/a.ts", "content": "x", "revision_id": COMMIT})
    settle()
    (row,) = entries(ivys, q=approval_id)
    assert (row["outcome"], row["verb"], len(row["numbers"])) == ("approved", "Write held, approved once", 4)
    assert [entry["number"] for entry in entries(ivys, q=decision_id)] == [
        LedgerEntry.objects.get(entry_id=decision_id).pk
    ]
    for text in (COMMIT, COMMIT[:8]):
        assert [entry["kind"] for entry in entries(ivys, q=text)] == ["trace"]
    text = ivys.get("/w/acme/traces/", {"q": approval_id, "entry": row["number"]}).content.decode()
    assert f"/w/acme/approvals/{approval_id}/" in text


def test_the_page_of_a_file_lists_attempts_beside_changes(agent, reviewer, ivys, settle):
    path = "docs/design.md"
    decide(reviewer, write(agent, path)["approval"]["id"], action="reject", comment="Not <b>here</b>.")
    write(agent, path)
    write(agent, path, tool_use_id="later")
    agent.gate("Read", file_path=path)
    agent.post("sessions/s-1/traces", {"path": path, "content": "x"})
    settle()
    answer = ivys.get(f"/w/acme/traces/map/file/{path}")
    assert [attempt["row"].verb for attempt in answer.context["attempts"]] == [
        "Write denied",
        "Write held, rejected",
    ]
    assert len(answer.context["changes"]) == 1
    text = answer.content.decode()
    assert "Not &lt;b&gt;here&lt;/b&gt;." in text
    assert "<b>here</b>" not in text


def test_the_page_of_a_file_that_was_only_attempted_is_there(agent, ivys, settle):
    hook(agent, "PreToolUse-Write", {"file_path": f"/workspace/{WORKFLOW}", "content": "on: push"})
    settle()
    answer = ivys.get(f"/w/acme/traces/map/file/{WORKFLOW}")
    assert answer.status_code == 200
    (attempt,) = answer.context["attempts"]
    assert (attempt["row"].outcome, attempt["session_id"], attempt["intent_id"]) == ("ask", "s-1", "INT-001")
    assert ivys.get("/w/acme/traces/map/file/.github/workflows/other.yml").status_code == 404


ENDINGS = {
    "approved": ({}, "Write held, approved once", "approved", None),
    "rejected": ({"action": "reject"}, "Write held, rejected", "rejected", False),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_held_call_is_one_row_with_its_object(agent, reviewer, ivys, settle, ending):
    body, verb, outcome, ran = ENDINGS[ending]
    decide(reviewer, write(agent)["approval"]["id"], **body)
    write(agent)
    settle()
    (row,) = [row for row in timeline(ivys) if row.object == WORKFLOW]
    assert (row.verb, row.outcome, row.ran, len(row.numbers)) == (verb, outcome, ran, 4)
    assert "fine" in row.note
    assert "came back" in row.note
    assert row.took_ms is not None
    assert [entry["verb"] for entry in entries(ivys, path=WORKFLOW)] == [verb]


def test_a_row_tells_the_end_even_where_a_filter_leaves_it_out(agent, reviewer, ivys, settle):
    decide(reviewer, write(agent)["approval"]["id"])
    settle()
    (asked,) = entries(ivys, kind="decision", outcome="ask")
    (decided,) = entries(ivys, kind="approval", outcome="APPROVED")
    assert asked["verb"] == decided["verb"] == "Write held, approved once"
    assert asked["object"] == decided["object"] == WORKFLOW
    assert asked["number"] < decided["number"]


def test_pages_show_the_steps_of_a_call_on_each_of_them(agent, reviewer, ivys, settle, monkeypatch):
    approval_id = write(agent)["approval"]["id"]
    for number in range(3):
        agent.gate("Write", file_path=f"src/{number}.ts", content="x")
    decide(reviewer, approval_id)
    settle()
    monkeypatch.setattr("traces.pages.trace_list.PAGE_SIZE", 3)
    verbs = []
    answer = ivys.get("/w/acme/traces/", {"kind": ["decision", "approval"]})
    for _ in range(2):
        verbs.append([row["verb"] for row in answer.context["entries"] if row["object"] == WORKFLOW])
        answer = ivys.get(f"/w/acme/traces/{answer.context['older_url']}")
    assert verbs == [["Write held, approved once"], ["Write held, approved once"]]


def test_a_grant_for_the_session_folds_its_own_call_only(agent, reviewer, ivys, settle):
    decide(reviewer, write(agent)["approval"]["id"], grant="session", patterns=[".github/**"])
    write(agent)
    write(agent, ".github/other.yml")
    write(agent)
    settle()
    assert [row.verb for row in timeline(ivys) if ".github" in row.object] == [
        "Write held, approved for the session", "Write", "Write",
    ]  # fmt: skip


def test_requests_name_what_they_are_about(agent, reviewer, ivys, settle):
    agent.post("sessions/s-1/request-scope", {"patterns": ["docs/**"], "reason": "The guide is there"})
    agent.post("sessions/s-1/complete-intent", {"verification_notes": "All tests pass"})
    approval = Approval.objects.get(kind="scope")
    decide(reviewer, approval.public_id)
    settle()
    scope, completion = [row for row in timeline(ivys) if row.kind == "approval"]
    assert (scope.verb, scope.object) == ("Scope requested, widened the scope", "docs/**")
    assert (completion.verb, completion.object) == ("Completion requested", "INT-001")
    assert completion.note == "All tests pass"
    assert [row["verb"] for row in entries(ivys, q="docs/**", kind="approval")] == [scope.verb]


def test_other_workspaces_stay_out(agent, ivys, max_):
    write(agent)
    builders.workspace("other")
    assert ivys.get("/w/other/traces/", {"q": "ci.yml"}).status_code == 404
    assert builders.signed_in(max_).get(f"/w/acme/traces/map/file/{WORKFLOW}").status_code == 404


def test_the_traces_of_the_api_are_traces_only(agent, ivys, settle):
    write(agent)
    settle()
    assert agent.get(f"traces?path={WORKFLOW}").json()["results"] == []
