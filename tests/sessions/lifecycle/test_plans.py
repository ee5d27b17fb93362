"""Plans: patterns, kinds and places that an agent asks for once."""

from __future__ import annotations

import pytest

from intents.models import Intent
from sessions.models import Approval
from tests import builders

pytestmark = pytest.mark.django_db
KIND = "mcp:linear.create_issue"


@pytest.fixture
def at_work(acme, agent):
    builders.intent(acme)
    agent.post("sessions", {"session_id": "s-1", "root": "/home/ada/shop", "agent": {"name": "claude-code"}})
    agent.select("INT-001")
    return agent


def plan(agent, **body):
    return agent.post("sessions/s-1/request-scope", {"reason": "the whole move", **body})


def decide(speaker, approval, **more):
    answer = speaker.post(f"approvals/{approval}/decide", {"action": "approve", **more})
    assert answer.status_code == 200, answer.content
    return answer.json()


def run(agent, title, tool="create_issue"):
    return agent.gate(f"mcp__linear__{tool}", title=title)["decision"]


def test_one_card_gives_patterns_and_kinds_as_a_revision_of_the_intent(at_work, reviewer):
    asked = plan(at_work, patterns=["docs/**"], kinds=[KIND, "git commit"])
    assert asked.status_code == 201
    body = asked.json()
    assert (body["patterns"], body["kinds"], body["access"]) == (
        ["docs/**"],
        [KIND, "git commit"],
        "write",
    )
    assert plan(at_work, patterns=["docs/**"], kinds=["git commit", KIND]).json()["id"] == body["id"]
    assert decide(reviewer, body["id"])["grant"] == "scope"
    intent = Intent.objects.get()
    assert intent.owned_scope == ["src/auth/**", "docs/**"]
    assert intent.allowed_commands == [KIND, "git commit"]
    assert run(at_work, "x") == "allow"
    assert at_work.gate("Write", file_path="/home/ada/shop/docs/a.md", content="x")["decision"] == "allow"
    assert run(at_work, "x", tool="delete_issue") == "ask"


def test_a_reviewer_edits_a_plan(at_work, reviewer):
    asked = plan(at_work, patterns=["docs/**", "lib/**"], kinds=[KIND, "npm install"]).json()
    given = decide(reviewer, asked["id"], patterns=["docs/api/**"], kinds=[KIND])
    assert (given["patterns"], given["kinds"]) == (["docs/api/**"], [KIND])
    intent = Intent.objects.get()
    assert (intent.owned_scope[1:], intent.allowed_commands) == (["docs/api/**"], [KIND])


def test_a_plan_may_hold_for_the_session_alone(at_work, reviewer):
    asked = plan(at_work, patterns=["docs/**"], kinds=[KIND]).json()
    decide(reviewer, asked["id"], grant="session", minutes=60)
    assert Intent.objects.get().allowed_commands == []
    assert run(at_work, "x") == "allow"
    assert at_work.gate("Write", file_path="/home/ada/shop/docs/a.md", content="x")["decision"] == "allow"


def test_kinds_alone_are_a_plan_too(at_work, reviewer):
    decide(reviewer, plan(at_work, kinds=[KIND]).json()["id"])
    assert Intent.objects.get().owned_scope == ["src/auth/**"]
    assert run(at_work, "x") == "allow"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "at least one pattern or one kind"),
        ({"kinds": ["go *"]}, "is not a kind"),
        ({"patterns": ["/etc/**"], "access": "write"}, "patterns"),
        ({"patterns": ["src/**"], "access": "read"}, "outside the workspace"),
        ({"patterns": ["~/.ssh/**"], "access": "read"}, "credentials"),
        ({"patterns": ["/**"], "access": "read"}, "complete disk"),
        ({"patterns": ["/x/**"], "access": "own"}, "own"),
    ],
)
def test_what_makes_no_sense_opens_nothing(at_work, body, words):
    answer = plan(at_work, **body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert not Approval.objects.exists()


def test_no_plan_becomes_a_rule_of_the_workspace(acme, at_work):
    asked = plan(at_work, kinds=[KIND]).json()
    admin = builders.speaker(acme, "admin")
    answer = admin.post(f"approvals/{asked['id']}/decide", {"action": "approve", "grant": "workspace"})
    assert answer.status_code == 400
    assert "bounded by its intent" in answer.json()["error"]


def test_a_place_to_read_is_granted_with_the_intent(acme, at_work, reviewer):
    notes = "/home/ada/notes/plan.md"
    assert at_work.gate("Read", file_path=notes)["decision"] == "deny"
    asked = plan(at_work, patterns=["~/notes/**"], access="read").json()
    assert asked["access"] == "read"
    decide(reviewer, asked["id"])
    assert at_work.gate("Read", file_path=notes)["decision"] == "allow"
    assert at_work.gate("Write", file_path=notes, content="x")["decision"] == "deny"
    assert at_work.gate("Read", file_path="/home/ada/other.md")["decision"] == "deny"
    assert Intent.objects.get().owned_scope == ["src/auth/**"]


def test_whoever_only_reads_needs_no_intent(acme, agent, reviewer):
    builders.intent(acme)
    agent.post("sessions", {"session_id": "s-1", "root": "/home/ada/shop"})
    assert plan(agent, patterns=["docs/**"]).status_code == 409
    asked = plan(agent, patterns=["~/notes/**"], access="read")
    assert asked.status_code == 201
    decide(reviewer, asked.json()["id"], grant="session")
    assert agent.gate("Read", file_path="/home/ada/notes/plan.md")["decision"] == "allow"


def test_the_same_through_the_tool_of_the_handshake(at_work, reviewer):
    answer = at_work.gate("request_scope_expansion", kinds=[KIND], reason="tests all day")
    assert (answer["decision"], answer["error"]) == ("allow", None)
    approval = Approval.objects.get()
    assert approval.call["kinds"] == [KIND]
    assert "wait" not in (answer["context"] or "") or approval.public_id in answer["context"]
    decide(reviewer, approval.public_id)
    assert run(at_work, "x") == "allow"


def test_the_card_of_a_plan_offers_how_long_it_holds(at_work, rex):
    asked = plan(at_work, patterns=["docs/**"], kinds=[KIND]).json()
    page = builders.signed_in(rex)
    card = page.get(f"/w/acme/approvals/{asked['id']}/").content.decode()
    for words in (
        "Until the intent closes",
        "Until the session ends",
        "linear.create_issue",
        "docs/**",
        "Approve plan",
    ):
        assert words in card
    page.post(f"/w/acme/approvals/{asked['id']}/decide/", {"action": "approve", "grant": "session"})
    assert Intent.objects.get().allowed_commands == []
    assert Approval.objects.get().kinds == [KIND]


def test_what_is_not_ticked_on_the_card_is_left_out(at_work, rex):
    asked = plan(at_work, patterns=["docs/**", "lib/**"], kinds=[KIND, "git push"]).json()
    address = f"/w/acme/approvals/{asked['id']}/"
    page = builders.signed_in(rex)
    assert "Plan for INT-001" in page.get(address).content.decode()
    form = {"action": "approve", "grant": "scope", "plan": "true", "patterns": ["docs/**"]}
    page.post(f"{address}decide/", form)
    intent = Intent.objects.get()
    assert (intent.owned_scope, intent.allowed_commands) == (["src/auth/**", "docs/**"], [])
    nothing = plan(at_work, kinds=[KIND]).json()
    refused = page.post(f"/w/acme/approvals/{nothing['id']}/decide/", form | {"patterns": []})
    assert "Nothing is left of the plan" in refused.content.decode()
