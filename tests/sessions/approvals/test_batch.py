"""Several approvals decided at once: a result for each, and nothing irreversible unseen."""

from __future__ import annotations

import pytest

from sessions.models import Approval
from tests import builders

pytestmark = pytest.mark.django_db


def ask(agent, path="docs/a.md"):
    return agent.gate("Write", file_path=path, content="x")["approval"]["id"]


def decide(speaker, *ids, **more):
    answer = speaker.post("approvals/decide", {"ids": list(ids), "action": "approve", **more})
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def test_each_is_decided_by_itself(at_work, reviewer):
    first, second = ask(at_work), ask(at_work, "docs/b.md")
    reviewer.post(f"approvals/{second}/decide", {"action": "reject"})
    results = decide(reviewer, first, second, "nothing", first)
    assert [(row["id"], row["ok"], row["error_type"]) for row in results] == [
        (first, True, None),
        (second, False, "ALREADY_DECIDED"),
        ("nothing", False, "NOT_FOUND"),
    ]
    assert at_work.gate("Write", file_path="docs/a.md", content="x")["decision"] == "allow"


def test_what_cannot_be_undone_is_approved_only_after_it_was_opened(at_work, reviewer):
    approval = at_work.gate("Bash", command="rm docs/a.md")["approval"]["id"]
    assert decide(reviewer, approval)[0]["error_type"] == "NOT_OPENED"
    assert Approval.objects.get().status == "PENDING"
    reviewer.get(f"approvals/{approval}")
    assert decide(reviewer, approval)[0]["ok"]


def test_an_agent_decides_nothing_and_nobody_for_another_workspace(acme, at_work, reviewer):
    approval = ask(at_work)
    assert at_work.post("approvals/decide", {"ids": [approval], "action": "approve"}).status_code == 403
    other = builders.speaker(builders.workspace("other"), "reviewer")
    assert decide(other, approval)[0]["error_type"] == "NOT_FOUND"
    assert Approval.objects.get().status == "PENDING"


def test_a_batch_has_a_size(reviewer):
    assert reviewer.post("approvals/decide", {"ids": [], "action": "approve"}).status_code == 400


def test_a_look_at_the_card_counts_for_the_person_alone(at_work, reviewer, rex):
    approval = at_work.gate("Bash", command="rm docs/a.md")["approval"]["id"]
    assert builders.signed_in(rex).get(f"/w/acme/approvals/{approval}/").status_code == 200
    assert Approval.objects.get().openings.count() == 1
    assert decide(reviewer, approval)[0]["error_type"] == "NOT_OPENED"
