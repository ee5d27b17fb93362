"""The history of approvals: what it lists, how it is filtered and exported, and who sees whose figures."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from sessions.models import AgentSession, Approval, ApprovalOpening
from tests import builders

pytestmark = pytest.mark.django_db
PAGE = "/w/acme/approvals/history/"


def past(path, status="APPROVED", *, by=None, seconds=20, days=1, **fields):
    """An approval that ended some days ago."""
    at = timezone.now() - timedelta(days=days)
    session = AgentSession.objects.first()
    return Approval.objects.create(
        workspace=session.workspace, session=session, status=status, digest=f"d-{path}", tool="Edit",
        call={"targets": [{"path": path, "op": "write"}], "offending": [path], "input": {"file_path": path}},
        intent_id="INT-001", search_text=path.lower(), requested_at=at, expires_at=at,
        decided_at=at + timedelta(seconds=seconds), decided_by=by,
        decider=by.first_name if by else "", grant_kind="once" if status == "APPROVED" else "", **fields,
    )  # fmt: skip


@pytest.fixture
def decided(acme, at_work, rex, ada):
    past("docs/one.md", by=rex, seconds=4)
    past("docs/two.md", "REJECTED", by=ada, seconds=90, comment="=1+1")
    past("src/pay.py", by=ada, seconds=700)
    past("docs/late.md", "EXPIRED", seconds=3600)
    past("docs/old.md", by=rex, days=60)
    at_work.gate("Edit", file_path="docs/waits.md", old_string="a", new_string="b")


def show(person, query=""):
    response = builders.signed_in(person).get(PAGE + query)
    assert response.status_code == 200
    return response.content.decode()


def listed(person, query=""):
    page = show(person, query)
    return [name for name in ("one.md", "two.md", "pay.py", "late.md", "old.md", "waits.md") if name in page]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["one.md", "two.md", "pay.py", "late.md"]),
        ("?range=all", ["one.md", "two.md", "pay.py", "late.md", "old.md"]),
        ("?outcome=REJECTED", ["two.md"]),
        ("?by=Ada", ["two.md", "pay.py"]),
        ("?by=nobody", ["late.md"]),
        ("?took=under-10s", ["one.md"]),
        ("?took=1-5min", ["two.md"]),
        ("?took=over-5min&by=Ada", ["pay.py"]),
        ("?kind=scope", []),
        ("?q=DOCS", ["one.md", "two.md", "late.md"]),
        ("?agent=claude-code&intent=INT-001&session=s-1", ["one.md", "two.md", "pay.py", "late.md"]),
    ],
)
def test_filters_select(decided, ada, query, expected):
    assert listed(ada, query) == expected


def test_an_approval_is_found_by_its_id(decided, ada):
    approval = Approval.objects.get(digest="d-src/pay.py")
    assert listed(ada, f"?q={approval.public_id}") == ["pay.py"]


def test_a_filter_that_cannot_be_read_is_said_and_ignored(decided, ada):
    page = show(ada, "?outcome=maybe&took=soon&range=ever")
    assert "outcome: one of APPROVED" in page
    assert "That filter was ignored." in page
    assert "two.md" in page


def test_pages_follow_each_other_and_keep_the_filter(decided, ada, monkeypatch):
    monkeypatch.setattr("sessions.approvals.history.rows.PAGE_ROWS", 2)
    page = show(ada, "?q=docs")
    first = listed(ada, "?q=docs")
    older = page.split("?q=docs&amp;before=")[1].split('"')[0]
    second = listed(ada, f"?q=docs&before={older}")
    assert (len(first), len(second)) == (2, 1)
    assert not set(first) & set(second)


def test_the_export_is_what_is_filtered_and_no_formula(decided, ada):
    client = builders.signed_in(ada)
    answer = client.get(f"{PAGE}export/?format=csv&by=Ada")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [(row["object"], row["outcome"], row["decided_by"]) for row in rows] == [
        ("src/pay.py", "APPROVED", "Ada"), ("docs/two.md", "REJECTED", "Ada"),
    ]  # fmt: skip
    assert (rows[1]["comment"], rows[1]["seconds_to_decide"]) == ("'=1+1", "90.0")
    lines = b"".join(client.get(f"{PAGE}export/?format=jsonl").streaming_content).decode().splitlines()
    assert {json.loads(line)["object"] for line in lines} == {
        "docs/one.md", "docs/two.md", "src/pay.py", "docs/late.md",
    }  # fmt: skip
    assert client.get(f"{PAGE}export/?format=exe").status_code == 404


def test_reviewers_see_their_own_figures_and_admins_and_auditors_those_of_all(decided, ada, rex, ivy):
    def named(person):
        return [one.name for one in builders.signed_in(person).get(PAGE).context["figures"]]

    assert named(ada) == named(ivy) == ["Ada", "Rex"]
    assert named(rex) == ["Rex"]
    assert "How reviewers decide" in show(ada)
    assert "How you decide" in show(rex)
    assert "by=Ada" not in show(rex)


def test_figures_count_rejections_time_and_approvals_without_a_look(decided, ada):
    opened = Approval.objects.get(digest="d-src/pay.py")
    ApprovalOpening.objects.create(approval=opened, opener=f"user:{ada.pk}", opened_at=timezone.now())
    figures = {one.name: one for one in builders.signed_in(ada).get(PAGE).context["figures"]}
    assert (figures["Ada"].decisions, figures["Ada"].rejected_percent, figures["Ada"].unopened) == (2, 50, 0)
    assert figures["Ada"].median_milliseconds == 395_000
    assert (figures["Rex"].decisions, figures["Rex"].unopened_percent) == (1, 100)


def test_the_number_of_queries_does_not_grow(decided, ada, rex, django_assert_max_num_queries):
    for number in range(30):
        past(f"docs/more-{number}.md", by=rex)
    client = builders.signed_in(ada)
    with django_assert_max_num_queries(20):
        assert client.get(PAGE).status_code == 200
