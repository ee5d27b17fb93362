"""Git, held against what contained runs reported: "contained" is the client's word, and this checks it."""

from __future__ import annotations

import pytest

from tests.sessions.reconciliation.test_reconciling import changed, found, posted
from tests.sessions.runs.builders import created, decide, deleted, land, modified, report, start

pytestmark = pytest.mark.django_db
A, B = "src/auth/a.ts", "docs/b.md"


@pytest.fixture
def run(at_work):
    return start(at_work)


def test_what_landed_of_a_run_is_explained_by_its_decision(at_work, run):
    report(at_work, run, created(A, "one\n"), deleted("src/auth/old.ts"))
    answer = posted(at_work, changed(A, "one\n"), changed("src/auth/old.ts"))
    assert answer["findings"] == []
    assert {one["reason"] for one in answer["explained"]} == {"traced"}
    assert all(one["decision_id"] for one in answer["explained"])


def test_what_a_person_let_land_is_approved(at_work, run, reviewer):
    answer = report(at_work, run, created(B, "two\n"))
    decide(reviewer, answer["approval"]["id"])
    land(at_work, run)
    assert found(at_work, changed(B, "two\n")) == {B: ("explained", "approved")}


@pytest.mark.parametrize("action", ["approve", "reject", None])
def test_what_was_not_to_land_and_is_there_is_a_finding(at_work, run, reviewer, action):
    """Held, rejected, or approved and never fetched: in each case nobody told the client to land it."""
    answer = report(at_work, run, created(B, "two\n"))
    if action:
        decide(reviewer, answer["approval"]["id"], action=action)
    assert found(at_work, changed(B, "two\n")) == {B: ("out_of_scope", "run_not_landed")}


def test_what_its_client_could_not_land_and_is_there_is_a_finding(at_work, run):
    report(at_work, run, created(A, "one\n"))
    land(at_work, run, refused=[{"path": A, "reason": "it was changed"}])
    assert found(at_work, changed(A, "one\n")) == {A: ("out_of_scope", "run_not_landed")}


def test_what_the_report_did_not_name_is_unexplained(at_work, run):
    report(at_work, run, created(A, "one\n"))
    assert found(at_work, changed("src/auth/z.ts", "three\n")) == {
        "src/auth/z.ts": ("unexplained", "no_trace")
    }


def test_a_file_of_other_content_than_reported_was_changed_after(at_work, run):
    report(at_work, run, created(A, "one\n"))
    assert found(at_work, changed(A, "1\n")) == {A: ("unexplained", "changed_after_trace")}


@pytest.mark.parametrize(
    ("fields", "modes", "reason"),
    [
        ({"mode": "755"}, ("100644", "100755"), "traced"),
        ({"mode": "644"}, ("100644", "100755"), "mode_changed"),
        ({}, ("100644", "100755"), "mode_changed"),
        ({"change": "link", "target": "b.ts", "content": None, "diff": None}, ("100644", "120000"), "traced"),
        ({}, ("100644", "120000"), "type_changed"),
    ],
)
def test_links_and_modes_are_as_the_run_reported_them(at_work, run, fields, modes, reason):
    report(at_work, run, modified(A, "one\n", "b.ts", **fields))
    old, new = modes
    (outcome,) = found(at_work, changed(A, "b.ts", old_mode=old, new_mode=new)).values()
    assert outcome[1] == reason


def test_the_card_says_what_git_said(at_work, run, rexs):
    answer = report(at_work, run, created(A, "one\n"), created(B, "two\n"))
    page = f"/w/acme/approvals/{answer['approval']['id']}/"
    assert "not against git yet" in rexs.get(page).content.decode()
    posted(at_work, changed(A, "one\n"))
    assert "git agrees: 1 of 1 landed" in rexs.get(page).content.decode()
    posted(at_work, changed(A, "one\n"), changed(B, "two\n"))
    assert "git disagrees on 1 file" in rexs.get(page).content.decode()
