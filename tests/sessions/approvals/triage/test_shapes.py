"""Which calls are alike, and what a row that stands for several says."""

from __future__ import annotations

import pytest

from sessions.approvals.queue import load_queue
from sessions.models import Approval
from tests import builders
from tests.sessions.approvals.approval_builders import LIST, ROOT, ask, edit, page


def shell(agent, command, **words):
    return ask(agent, "Bash", command=command, cwd=ROOT, **words)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("rm -rf build/1", "rm -rf build/2", True),
        ("rm -rf build/1", f"rm -rf {ROOT}/build/2", True),
        ("rm build/1 build/2", "rm build/3 build/4", True),
        ("rm -rf build/1", "rm -r build/2", False),
        ("rm -rf build/1", "rm -rf dist/1", False),
        ("rm -rf build/1", "rm -rf build/2 && ls", False),
    ],
)
def test_calls_are_alike_but_for_the_name_of_the_target(at_work, one, other, alike):
    first, second = shell(at_work, one), shell(at_work, other)
    assert (first.shape == second.shape != "") is alike


def test_what_the_agent_says_of_a_call_is_no_part_of_its_shape(at_work):
    first = shell(at_work, "rm -rf build/1", description="Clear the old bundles")
    assert first.shape == shell(at_work, "rm -rf build/2", description="And the next one").shape != ""


def test_an_edit_is_alike_with_none(at_work):
    assert edit(at_work, "docs/a.md").shape == edit(at_work, "docs/b.md").shape == ""


def test_another_sessions_call_is_not_alike(at_work):
    at_work.select("INT-001", "s-2")
    first, second = (
        shell(at_work, "rm -rf build/1"),
        ask(at_work, "Bash", "s-2", command="rm -rf build/2", cwd=ROOT),
    )
    assert first.shape != second.shape


def test_alike_calls_are_one_row_that_leads_to_one_card(acme, at_work, rex):
    for number in range(30):
        shell(at_work, f"rm -rf build/{number}")
    shell(at_work, "rm -rf dist/1")
    (group,) = load_queue(acme, rex).groups
    assert [(item.object, item.alike) for item in group.approvals] == [
        ("rm -rf build/…", 30),
        ("rm -rf dist/1", 1),
    ]
    assert (group.calls, group.rows) == (31, 2)
    client = builders.signed_in(rex)
    assert "30 alike" in page(client, LIST)
    card = page(client, f"{LIST}alike/{group.approvals[0].shape}/")
    assert card.count('name="selected"') >= 30


def test_one_decision_has_a_result_for_each(acme, at_work, rex):
    approvals = [shell(at_work, f"rm -rf build/{number}") for number in range(3)]
    client = builders.signed_in(rex)
    form = {"action": "approve", "selected": [approval.public_id for approval in approvals[:2]]}
    refused = client.post(f"{LIST}decide/", form, headers={"HX-Request": "true"}).content.decode()
    assert "Decided 0 of 2." in refused
    assert "Open its card before you approve it." in refused
    page(client, f"{LIST}alike/{approvals[0].shape}/")
    assert (
        "Decided 2 of 2."
        in client.post(f"{LIST}decide/", form, headers={"HX-Request": "true"}).content.decode()
    )
    assert [row.status for row in Approval.objects.order_by("pk")] == ["APPROVED", "APPROVED", "PENDING"]


def test_the_queue_is_searched_by_path_command_agent_and_intent(at_work, rex):
    edit(at_work, "docs/Alpha.md")
    shell(at_work, "rm -rf build/1")
    client = builders.signed_in(rex)
    for text, found, missing in (("alpha", "Alpha.md", "rm -rf"), ("RM build", "rm -rf", "Alpha.md")):
        shown = page(client, LIST, fragment="queue", q=text)
        assert found in shown
        assert missing not in shown
    assert "No pending approval fits this filter." in page(
        client, LIST, fragment="queue", q="nothing like it"
    )
    assert "Alpha.md" in page(client, LIST, fragment="queue", q="claude int-001 docs")


def test_a_long_queue_is_drawn_in_pages(at_work, rex):
    for number in range(45):
        edit(at_work, f"docs/f{number:02}.md")
    client = builders.signed_in(rex)
    first = page(client, LIST)
    assert first.count('class="queue-card') == 15
    assert "30 more rows" in first
    rest = page(client, LIST, fragment="rows", offset="15")
    assert "docs/f15.md" in rest.replace("<b>", "").replace("</b>", "")
    assert "15 more rows" in rest
