"""The computed class of what an agent reports: where its texts come from, where it is kept, who sees it."""

from __future__ import annotations

import hashlib
import subprocess

import pytest
from django.db import connection
from django.urls import reverse

from sessions.approvals.card.previews.edits import Replacement
from sessions.models import AgentSession
from sessions.previous_text import revert_replacements
from tests import builders
from traces.browser.filters import EntryFilters, Term
from traces.browser.search import build_branches
from traces.counts.counters import count_sealed
from traces.entries.mutation_class_check import count_class_mismatches
from traces.ledger.append import read_body
from traces.ledger.sealing import seal
from traces.models import LedgerEntry, TraceRange

pytestmark = pytest.mark.django_db

PATH = "src/auth/login.py"
OLD = "def total(a, b):\n    return a + b\n"
TIDY = "def total(a, b):\n    # the sum\n    return a+b\n"
OTHER = "def total(a, b):\n    return a - b\n"
REFACTOR, EVOLUTION = "AST_REFACTOR", "INTENT_EVOLUTION"


def sha(text):
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@pytest.fixture
def working(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    return agent


@pytest.fixture
def on_disk(acme, working, tmp_path):
    """A repository with the file committed; its commit, and a function that writes the file."""
    acme.local_root = str(tmp_path)
    acme.save()
    file = tmp_path / PATH
    file.parent.mkdir(parents=True)

    def git(*words):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    file.write_text(OLD)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    return git("rev-parse", "HEAD"), file.write_text


def report(agent, **fields):
    answer = agent.post("sessions/s-1/traces", {"path": PATH, **fields})
    assert answer.status_code in {200, 201}, answer.content
    return answer.json()


def write(agent, text, call, **fields):
    """A gated write with what was reported of it."""
    assert agent.gate("Write", file_path=PATH, content=text, tool_use_id=call)["decision"] == "allow"
    return report(agent, content=text, tool_use_id=call, **fields)


def hooked(agent, result, **payload):
    body = {"session_id": "s-1", "cwd": "/workspace", "tool_name": "Edit", "tool_use_id": "t-9", **payload}
    headers = {"Authorization": f"Bearer {agent.secret}"}
    path = "/hooks/claude-code/PostToolUse"
    body |= {"tool_response": result}
    answer = agent.client.post(path, body, content_type="application/json", headers=headers)
    assert answer.status_code == 200, answer.content
    return read_body(LedgerEntry.objects.filter(kind="trace").latest("pk"))


# --- where the text before comes from ---------------------------------------------------------------


@pytest.mark.parametrize(("new", "found"), [(TIDY, REFACTOR), (OTHER, EVOLUTION)])
def test_a_hook_that_tells_the_text_before(working, new, found):
    result = {"filePath": f"/workspace/{PATH}", "content": new, "originalFile": OLD}
    told = {"file_path": f"/workspace/{PATH}", "content": new}
    assert hooked(working, result, tool_name="Write", tool_input=told)["computed_mutation_class"] == found


def test_a_call_whose_time_for_classes_is_over_is_recorded_without_them(working, monkeypatch):
    monkeypatch.setattr("sessions.adapters.dispatch.CLASS_SECONDS", 0)
    result = {"filePath": f"/workspace/{PATH}", "content": TIDY, "originalFile": OLD}
    told = {"file_path": f"/workspace/{PATH}", "content": TIDY}
    body = hooked(working, result, tool_name="Write", tool_input=told)
    assert body["files"][0]["relative_path"] == PATH
    assert "computed_mutation_class" not in body


@pytest.mark.parametrize(("new", "found"), [(TIDY, REFACTOR), (OTHER, EVOLUTION)])
def test_a_second_write_is_compared_with_what_the_first_one_left(working, new, found):
    assert write(working, OLD, "t-1")["computed_mutation_class"] is None
    answer = write(working, new, "t-2")
    assert answer["computed_mutation_class"] == answer["entry"]["computed_mutation_class"] == found


def test_what_somebody_else_has_left_since_is_not_known(working):
    write(working, OLD, "t-1")
    working.post("sessions/s-1/traces", {"path": PATH, "content_hash": sha("x = 1\n")})
    assert write(working, TIDY, "t-2")["computed_mutation_class"] is None


def test_an_edit_is_undone_to_know_what_was_there(working):
    edit = {"file_path": PATH, "old_string": "a + b", "new_string": "a - b"}
    assert working.gate("Edit", **edit, tool_use_id="t-1")["decision"] == "allow"
    assert report(working, content=OTHER, tool_use_id="t-1")["computed_mutation_class"] == EVOLUTION
    assert report(working, content=TIDY, tool_use_id="t-2")["computed_mutation_class"] is None


def test_the_commit_that_a_change_names_is_what_was_there(working, on_disk):
    revision, _ = on_disk
    assert report(working, content=TIDY, revision_id=revision)["computed_mutation_class"] == REFACTOR
    assert (
        report(working, content=OTHER, revision_id=revision)["computed_mutation_class"] is None
    )  # it has moved on
    assert (
        report(working, path="src/new.py", content=OLD, revision_id=revision)["computed_mutation_class"]
        is None
    )


@pytest.mark.parametrize("revision", ["HEAD", "--output=x", "f" * 40])
def test_what_is_no_commit_of_the_repository_is_not_asked_for(working, on_disk, revision):
    assert report(working, content=TIDY, revision_id=revision)["computed_mutation_class"] is None


def test_a_hash_alone_is_enough_where_the_file_is_on_disk(working, on_disk):
    revision, write_file = on_disk
    write_file(OTHER)
    answer = report(working, content_hash=sha(OTHER), revision_id=revision)
    assert answer["computed_mutation_class"] == EVOLUTION
    write_file("changed = since\n")
    answer = report(working, content_hash=sha(TIDY), revision_id=revision)
    assert answer["computed_mutation_class"] is None


def test_lines_out_of_a_file_are_no_text_to_compare(working, on_disk):
    revision, _ = on_disk
    part = {"content": "    return a - b\n", "start_line": 2, "end_line": 2, "revision_id": revision}
    assert report(working, **part)["computed_mutation_class"] is None


@pytest.mark.parametrize(
    ("after", "pieces", "before"),
    [
        ("a c", [Replacement("b", "c")], "a b"),
        ("a d", [Replacement("b", "c"), Replacement("c", "d")], "a b"),
        ("c c", [Replacement("b", "c")], None),  # either could have been the one
        ("ccc", [Replacement("b", "cc")], None),  # at both places
        ("a b c", [Replacement("b", "c")], None),  # then `b` would have stood there twice
        ("c", [Replacement("b", "c", replace_all=True)], None),
        ("a", [Replacement("b", "")], None),
        ("a", [], None),
    ],
)
def test_an_edit_is_undone_only_where_it_has_one_meaning(after, pieces, before):
    assert revert_replacements(after, pieces) == before


# --- where it is kept -------------------------------------------------------------------------------


def test_the_claim_stays_the_agents_own(working):
    write(working, OLD, "t-1")
    entry = write(working, OTHER, "t-2", mutation_class=REFACTOR)["entry"]
    assert (entry["mutation_class"], entry["computed_mutation_class"]) == (REFACTOR, EVOLUTION)
    (listed, first) = working.get("traces").json()["results"]
    assert listed["ledger"]["computed_mutation_class"] == EVOLUTION
    assert (listed["ledger"]["class_disagrees"], first["ledger"]["class_disagrees"]) == (True, False)
    record = b"".join(working.get("traces/export", format="agent-trace").streaming_content).decode()
    assert '"computed_mutation_class":"INTENT_EVOLUTION"' in record


def test_the_same_report_again_is_the_same_entry(working):
    write(working, OLD, "t-1")
    first = write(working, OTHER, "t-2")
    again = report(working, content=OTHER, tool_use_id="t-2")
    assert (again["id"], again["computed_mutation_class"]) == (first["id"], EVOLUTION)


def test_nobody_can_make_a_computed_class_up(working, admin):
    entry = write(working, OLD, "t-1")["entry"]
    forged = entry | {"id": "forged", "mutation_class": EVOLUTION, "computed_mutation_class": EVOLUTION}
    assert working.post("traces", [forged]).status_code == 201
    listed = working.get("traces").json()["results"][0]
    assert (listed["id"], listed["ledger"]["computed_mutation_class"]) == ("forged", None)
    refused = admin.post("traces/import?source=class_agrees", [forged | {"id": "more"}])
    assert refused.status_code == 400


def test_an_error_in_a_text_loses_no_record(working):
    write(working, OLD, "t-1")
    answer = write(working, "def broken(:\n", "t-2", mutation_class=REFACTOR)
    assert (answer["computed_mutation_class"], answer["entry"]["mutation_class"]) == (None, REFACTOR)


# --- who sees it ------------------------------------------------------------------------------------


@pytest.fixture
def mistaken(acme, working):
    """One change of which the agent said too little, one of which it was right, one of which it said nothing."""
    write(working, OLD, "t-1")
    write(working, OTHER, "t-2", mutation_class=REFACTOR)
    write(working, OLD, "t-3", mutation_class=EVOLUTION)
    write(working, TIDY, "t-4")
    return acme


def test_the_few_that_disagree_are_found_by_an_index_of_their_own(mistaken):
    wanted = EntryFilters((Term("reason", "class_disagrees"),))
    (way,) = build_branches(mistaken.pk, wanted, ())
    ordered = way.entries.order_by("-pk").values_list("pk", flat=True)[:101]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
        assert "ledger_entry_disagrees" in ordered.explain()
    assert len(ordered) == 1


@pytest.mark.parametrize("sealed", [False, True])
def test_an_intent_counts_the_claims_that_do_not_hold(mistaken, rex, sealed):
    if sealed:
        seal(mistaken.pk)
        count_sealed(mistaken.pk)
    assert count_class_mismatches(mistaken.pk, "INT-001") == 1
    assert count_class_mismatches(mistaken.pk, "INT-002") == 0
    page = builders.signed_in(rex).get("/w/acme/intents/INT-001/").content.decode()
    assert "Class disagrees" in page
    assert '?kind=trace&amp;intent=INT-001&amp;reason=class_disagrees">1 change</a>' in page


def test_the_browser_marks_and_filters_them(mistaken, rex):
    client = builders.signed_in(rex)
    page = client.get("/w/acme/traces/?kind=trace")
    titles = {facet["title"]: [item["label"] for item in facet["items"]] for facet in page.context["facets"]}
    assert sorted(titles["Computed class"]) == ["class agrees", "class disagrees", "refactor unclaimed"]
    assert page.content.decode().count("Class disagrees") == 1
    found = client.get("/w/acme/traces/?reason=class_disagrees").context["entries"]
    assert [one["computed"] for one in found] == [EVOLUTION]
    exported = client.get("/w/acme/traces/export?reason=class_disagrees&format=orchestration")
    assert b"".join(exported.streaming_content).count(b'"computed_mutation_class":"INTENT_EVOLUTION"') == 1
    drawer = client.get(f"/w/acme/traces/?entry={found[0]['number']}").content.decode()
    assert "Class disagrees" in drawer
    assert "computed INTENT_EVOLUTION" in drawer


def test_the_timeline_and_the_file_page_show_both(mistaken, rex):
    client = builders.signed_in(rex)
    addresses = (
        reverse("sessions:detail", args=["acme", "s-1"]),
        reverse("traces:file", args=["acme", PATH]),
    )
    for address in addresses:
        text = client.get(address).content.decode()
        assert text.count("Class disagrees") == 1, address
        assert "computed INTENT_EVOLUTION" in text
        assert "computed AST_REFACTOR" in text  # of the one that claimed nothing


def test_the_gate_never_computes_one(working, monkeypatch):
    monkeypatch.setattr("sessions.previous_text.classify_in_worker", lambda *_: 1 / 0)
    assert working.gate("Write", file_path=PATH, content=OLD)["decision"] == "allow"
    assert AgentSession.objects.get().session_id == "s-1"


# --- the lines of a change --------------------------------------------------------------------------


def lines_of(body):
    """(first line, how many were brought, how many were taken) of each hunk."""
    changes = body["files"][0]["line_changes"]
    return [(one["start_line"], one["line_count"], one["previous_line_count"]) for one in changes]


def ranges():
    return list(TraceRange.objects.order_by("pk").values_list("start_line", "end_line", "content_hash"))


def test_a_change_is_sealed_line_by_line_with_what_it_started_from(working):
    result = {"filePath": f"/workspace/{PATH}", "content": TIDY, "originalFile": OLD}
    body = hooked(
        working, result, tool_name="Write", tool_input={"file_path": f"/workspace/{PATH}", "content": TIDY}
    )
    assert lines_of(body) == [(2, 2, 1)]
    assert body["files"][0]["previous_hash"] == sha(OLD)
    assert ranges() == [(2, 3, sha("    # the sum\n    return a+b\n"))]


def test_an_edit_that_only_deletes_writes_no_line(working):
    after = "def total(a, b):\n"
    edit = {"file_path": f"/workspace/{PATH}", "old_string": "    return a + b\n", "new_string": ""}
    body = hooked(
        working, {"filePath": f"/workspace/{PATH}", "originalFile": OLD, "content": after}, tool_input=edit
    )
    assert lines_of(body) == [(2, 0, 1)]
    assert ranges() == []


def test_what_is_written_again_as_it_was_writes_no_line(working):
    write(working, OLD, "t-1")
    assert write(working, OLD, "t-2")["entry"]["files"][0]["line_changes"] == []
    assert len(ranges()) == 1  # of the first one


def test_a_file_that_was_committed_belongs_to_who_committed_it(working, on_disk):
    assert write(working, OLD, "t-1")["entry"]["files"][0]["line_changes"] == []
    assert lines_of(write(working, TIDY, "t-2")["entry"]) == [(2, 2, 1)]


def test_a_command_that_wrote_and_committed_a_file_may_have_changed_all_of_it(working, on_disk):
    working.gate("Bash", command=f"tidy {PATH} && git commit -qam tidy", tool_use_id="t-1")
    entry = report(working, content=OLD, tool_use_id="t-1")["entry"]
    assert "line_changes" not in entry["files"][0]


def test_a_new_file_is_the_agents_completely(working):
    assert lines_of(write(working, OLD, "t-1")["entry"]) == [(1, 2, 0)]


def test_the_lines_that_the_hook_found_are_sealed_where_they_fit_the_text(working):
    change = {
        "start_line": 2, "line_count": 1, "content_hash": sha("    return a - b\n"),
        "previous_line_count": 1, "previous_hash": sha("    return a + b\n"),
    }  # fmt: skip
    write(working, OLD, "t-1")
    hashes = {"current_content_hashes": {PATH: sha(OTHER)}}
    edit = {"file_path": f"/workspace/{PATH}", "old_string": "a + b", "new_string": "a - b"}
    body = hooked(working, {}, tool_input=edit, icp={**hashes, "line_changes": {PATH: [change]}})
    assert lines_of(body) == [(2, 1, 1)]
    assert ranges()[-1] == (2, 2, sha("    return a - b\n"))


@pytest.mark.parametrize("changes", ["x", [{}], [{"start_line": 0}], [{"start_line": 1}] * 201])
def test_line_changes_that_cannot_be_are_refused(working, changes):
    body = {
        "session_id": "s-1",
        "tool_name": "Edit",
        "tool_input": {},
        "icp": {"line_changes": {PATH: changes}},
    }
    headers = {"Authorization": f"Bearer {working.secret}"}
    answer = working.client.post(
        "/hooks/claude-code/PostToolUse", body, content_type="application/json", headers=headers
    )
    assert answer.status_code == 400
    assert "line_changes must be an object" in answer.json()["error"]
