"""Who takes an intent to its end, and what shows that its criteria are met (document 5, open questions)."""

from __future__ import annotations

import yaml


def test_seed5_question_2__a_criterion_is_met_by_evidence_that_a_person_confirms(shop, coder):
    shop.change(acceptance_criteria=["All tests pass", "It is documented"])
    coder.take()
    assert coder.write("src/auth/login.ts").ran
    coder.wrote("src/auth/login.ts")
    assert coder.shell("git status").ran
    evidence = [
        {"type": "trace", "path": "src/auth/login.ts"},
        {"type": "command", "command": "git status", "exit_status": 0},
        {"type": "note", "text": "Signed in and out by hand."},
    ]
    url, body = f"sessions/{coder.session}/complete-intent", {"verification_notes": "Tests pass."}
    missing = [{"criterion": 1, "evidence": [{"type": "trace", "path": "src/auth/other.ts"}]}]
    status, refused = coder.api("POST", url, body | {"acceptance_evidence": missing})
    assert (status, "no change of 'src/auth/other.ts'" in refused["error"]) == (400, True)
    claims = [{"criterion": "All tests pass", "evidence": evidence}]
    status, asked = coder.api("POST", url, body | {"acceptance_evidence": claims})
    assert (status, asked["completed"]) == (200, False)
    assert exported(shop)["acceptance_evidence"][0]["status"] == "claimed"
    shop.decide(asked["approval"]["id"])
    intent = exported(shop)
    (record,) = intent["acceptance_evidence"]
    assert (intent["status"], record["criterion"], record["status"]) == ("COMPLETED", "All tests pass", "met")
    assert record["confirmed_by"]
    trace, command, note = record["evidence"]
    assert trace["id"] in [line["id"] for line in shop.traces("path=src/auth/login.ts")]
    assert (command["command"], command["exit_status"]) == ("git status", 0)
    assert note["text"] == "Signed in and out by hand."
    again = shop.load(shop.text("intents/export"))
    assert again["plan"]["unchanged"] == ["INT-001"]


def exported(shop):
    (intent,) = yaml.safe_load(shop.text("intents/export"))["active_intents"]
    return intent
