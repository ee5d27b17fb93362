"""Grants by kind of shell command: other spellings are covered, dangerous forms and known targets never."""

from __future__ import annotations

import pytest

from sessions.models import Approval
from tests import builders

pytestmark = pytest.mark.django_db

TEST_A = "go test ./cmd/cli -run TestA"
TEST_B = "go test ./cmd/other -run TestB -count=1 2>&1 | tail -5"


@pytest.fixture
def granted(acme, agent, reviewer):
    """An agent whose session may run `go test`."""
    builders.intent(acme)
    agent.select("INT-001")
    approval = run(agent, TEST_A)["approval"]["id"]
    assert Approval.objects.get().refused == [{"kind": "go test", "effect": "runs_project"}]
    body = {"action": "approve", "grant": "session", "kinds": ["go test"]}
    assert reviewer.post(f"approvals/{approval}/decide", body).status_code == 200
    return agent


def run(agent, command):
    return agent.gate("Bash", command=command)


def test_other_spellings_of_the_kind_run(granted):
    answer = run(granted, TEST_B)
    assert (answer["decision"], answer["override"]["grant"]) == ("allow", "session")


@pytest.mark.parametrize(
    "command",
    [
        'go test ./x -exec "sh -c id"',
        "go test ./x -o /etc/passwd",
        "go generate ./x",
        f"{TEST_B}; touch docs/x",
        f"{TEST_B} > docs/x",
        f"{TEST_A} && git push",
    ],
)
def test_dangerous_forms_other_kinds_and_known_targets_are_not_covered(granted, command):
    assert run(granted, command)["decision"] != "allow"


def test_the_kinds_of_an_intent_cover_no_dangerous_form(acme, agent):
    builders.intent(acme, allowed_commands=["go test", "git push"])
    agent.select("INT-001")
    assert run(agent, TEST_B)["decision"] == "allow"
    assert run(agent, "git push --force origin main")["decision"] == "ask"
