"""Claims take the place of earlier ones, and a completion confirms them."""

from __future__ import annotations

from intents.evidence.records import build_claim, confirm_claims, count_met, put_claims

CRITERIA = ("Tests pass", "It is fast")
NOTE = {"type": "note", "text": "Measured"}


def claim(criterion="Tests pass", text="Measured", **fields):
    values = {"agent": "codex", "session_id": "s-1", "at": "2026-01-01T00:00:00Z"} | fields
    return build_claim(criterion, [{"type": "note", "text": text}], **values)


def test_records_stand_in_the_order_of_the_criteria():
    records = put_claims(CRITERIA, [claim("It is fast")], [claim("Tests pass")])
    assert [record["criterion"] for record in records] == ["Tests pass", "It is fast"]


def test_a_new_claim_takes_the_place_of_the_earlier_one_even_of_a_confirmed_one():
    met = confirm_claims([claim(text="Old")], "Rex", "2026-01-02T00:00:00Z")
    (record,) = put_claims(CRITERIA, met, [claim(text="New")])
    assert (record["status"], record["evidence"]) == ("claimed", [{"type": "note", "text": "New"}])
    assert "confirmed_by" not in record


def test_the_same_claim_again_keeps_its_time():
    first, again = claim(), claim(at="2026-02-02T00:00:00Z")
    assert put_claims(CRITERIA, [first], [again]) == (first,)
    assert put_claims(CRITERIA, [first], [claim(session_id="s-2")]) != (first,)


def test_what_is_about_no_criterion_any_more_is_left_out():
    assert put_claims(["Another"], [claim()], [claim("It is fast")]) == ()


def test_a_confirmation_says_who_and_when_before_the_evidence():
    (record,) = confirm_claims([claim()], "Rex", "2026-01-02T00:00:00Z")
    assert record == {
        "criterion": "Tests pass", "status": "met", "claimed_by": "codex", "session_id": "s-1",
        "claimed_at": "2026-01-01T00:00:00Z", "confirmed_by": "Rex", "confirmed_at": "2026-01-02T00:00:00Z",
        "evidence": [NOTE],
    }  # fmt: skip
    assert list(record)[-1] == "evidence"


def test_what_is_met_is_not_confirmed_anew():
    met = confirm_claims([claim()], "Rex", "2026-01-02T00:00:00Z")
    assert confirm_claims(met, "Ada", "2026-01-03T00:00:00Z") == met


def test_only_criteria_that_are_there_count_as_met():
    met = confirm_claims([claim(), claim("Gone")], "Rex", "2026-01-02T00:00:00Z")
    assert count_met(CRITERIA, [*met, claim("It is fast")]) == 1
