"""The card of a run: what it did, what waits, and the answer file by file, without any script."""

from __future__ import annotations

import re

import pytest

from sessions.approvals.kinds.run_changes import PAGE_FILES
from sessions.models import Approval
from tests.sessions.runs.builders import (
    binary,
    created,
    decide,
    deleted,
    land,
    modified,
    report,
    start,
)

pytestmark = pytest.mark.django_db
PAGED = [created(f"docs/page-{number:03}.md") for number in range(PAGE_FILES + 20)]


@pytest.fixture
def run(at_work):
    return start(at_work, description="See whether it works")


@pytest.fixture
def page(rexs):
    """The page of the newest approval, or the answer to a form that is sent from it."""

    def get(query="", **form):
        address = f"/w/acme/approvals/{Approval.objects.latest('pk').public_id}/"
        if not form:
            return rexs.get(address + query).content.decode()
        form.setdefault("held_page", 1)
        return rexs.post(f"{address}decide/", form, headers={"HX-Request": "true"}).content.decode()

    return get


def text(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_it_shows_the_run_and_every_change(at_work, run, page):
    report(
        at_work, run, created("src/auth/a.ts"), modified("docs/b.md", "old\n", "new\n"), deleted("docs/c.md"),
        binary("docs/logo.png"), created(".git/hooks/pre-commit"), created("dist/x.js", ignored=True), exit_code=3,
    )  # fmt: skip
    shown = text(page())
    for words in (
        "Land 3 files from npm test", "See whether it works", "Exit 3", "1.2 s", "no network",
        "1 landed", "3 held", "1 thrown away", "5 files changed, 1 more that git ignores",
        "Contained by overlay + Landlock 7 , as the client reports.", "docs/b.md is outside INT-001.",
        "5,000,000 bytes", "For some of the files there is no diff", "runs project",
        ".git/hooks/ pre-commit new file", "decides what git runs", "Not in scope. docs/b.md and 2 more.",
    ):  # fmt: skip
        assert words in shown, words


def test_a_diff_that_does_not_lead_to_the_file_is_not_shown(at_work, run, page):
    false = modified("docs/b.md", "old\n", "harmful\n")
    report(at_work, run, false | {"diff": modified("docs/b.md", "old\n", "harmless\n")["diff"]})
    assert "harmless" not in page()
    assert "This preview is incomplete." in page()


def test_secrets_are_masked_and_hostile_names_are_marked(at_work, run, page):
    held = created("docs/<b> it.md", "AKIAIOSFODNN7EXAMPLE\n")
    answer = report(at_work, run, held, created("docs/\u202egnp.md"))
    assert answer["discard"] == ["docs/\u202egnp.md"]
    shown = page()
    assert "AKIAIOSFODNN7EXAMPLE" not in shown
    assert "<b> it" not in shown
    assert "\u202e" not in shown


def test_what_is_ticked_lands_and_the_rest_is_thrown_away(at_work, run, page):
    report(at_work, run, created("docs/b.md"), created("docs/c.md"))
    assert "Approved once by you" in page(action="approve", patterns=["docs/c.md"])
    answer = land(at_work, run)
    assert (answer["land"], answer["discard"]) == (["docs/c.md"], ["docs/b.md"])
    shown = text(page())
    assert "docs/ c.md new file Landed" in shown
    assert "docs/ b.md new file Thrown away" in shown


def test_an_answer_without_a_tick_is_none(at_work, run, page):
    report(at_work, run, created("docs/b.md"))
    shown = page(action="approve", comment="Only the first one")
    assert "none of the changes is chosen" in shown
    assert "Only the first one" in shown
    assert 'value="docs/b.md" checked' not in shown
    assert Approval.objects.get().status == "PENDING"
    assert "Rejected by you" in page(action="reject")
    assert land(at_work, run)["discard"] == ["docs/b.md"]


@pytest.mark.parametrize(("others", "landed"), [({}, 1), ({"others": "true"}, 21)])
def test_the_files_of_the_other_pages_are_decided_together(at_work, run, page, others, landed):
    report(at_work, run, *PAGED)
    second = page("?held=2")
    assert PAGED[-1]["path"] in second
    assert PAGED[0]["path"] not in second.partition("Why it was held")[0].partition("Held for approval")[2]
    assert "The 20 files of the other pages" in page()
    page(action="approve", patterns=[PAGED[0]["path"]], **others)
    assert len(land(at_work, run)["land"]) == landed


def test_all_of_it_is_one_answer(at_work, run, page):
    report(at_work, run, *PAGED)
    page(action="approve", patterns=[file["path"] for file in PAGED[:PAGE_FILES]], others="true")
    assert Approval.objects.get().patterns == []
    assert len(land(at_work, run)["land"]) == len(PAGED)


def test_an_empty_list_over_rest_chooses_nothing(at_work, run, reviewer):
    answer = report(at_work, run, created("docs/b.md"))
    decide(reviewer, answer["approval"]["id"], patterns=[], status=400)
    decide(reviewer, answer["approval"]["id"])
    assert land(at_work, run)["land"] == ["docs/b.md"]


def test_what_deletes_is_opened_before_it_is_approved_with_others(at_work, run, reviewer):
    answer = report(at_work, run, deleted("docs/b.md"))
    body = {"ids": [answer["approval"]["id"]], "action": "approve"}
    (result,) = reviewer.post("approvals/decide", body).json()["results"]
    assert result["error_type"] == "NOT_OPENED"


def test_the_session_shows_the_run_as_one_row_with_its_answer(at_work, run, rexs, page):
    report(at_work, run, created("src/auth/a.ts"), created("docs/b.md"), exit_code=3)
    before = text(rexs.get("/w/acme/sessions/s-1").content.decode())
    assert "Ran contained npm test 1 landed, 1 waited for approval" in before
    assert "exit status 3 after 1.2 s, held" in before
    page(action="approve", patterns=["docs/b.md"])
    after = text(rexs.get("/w/acme/sessions/s-1").content.decode())
    assert "Ran contained, approved once npm test" in after
    assert "exit status 3 after 1.2 s, approved" in after


def test_what_its_client_could_not_land_is_told_everywhere(at_work, run, page, rexs):
    report(at_work, run, created("src/auth/a.ts"), created("docs/b.md"))
    page(action="approve", patterns=["docs/b.md"])
    land(at_work, run)
    refused = [{"path": name, "reason": "STALE_FILE: it was changed"} for name in ("docs/b.md", "docs/x.md")]
    for _ in range(2):
        assert land(at_work, run, refused=refused)["land"] == ["docs/b.md"]
    shown = text(page())
    assert "docs/ b.md new file Could not land" in shown
    assert "Its client could not land it: STALE_FILE: it was changed" in shown
    session = text(rexs.get("/w/acme/sessions/s-1").content.decode())
    assert session.count("Could not land docs/ b.md STALE_FILE: it was changed") == 1
