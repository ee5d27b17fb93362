"""What proves the acceptance criteria of an intent: claims of agents, and who confirmed them.

A record is a mapping in the intent's document, under `acceptance_evidence`. It names its criterion by that
one's own words, so that it proves nothing once the words have changed. `schema.RECORD` describes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from intents.evidence.schema import CriterionStatus

Record = Mapping[str, Any]
BY_POLICY = "policy"  # confirms what no person has to look at
_CONTENT = ("criterion", "session_id", "evidence")  # what makes a claim the same when it is made again


def build_claim(
    criterion: str, evidence: Sequence[Mapping[str, Any]], *, agent: str, session_id: str, at: str
) -> Record:
    """Return the record of a claim. `at` is a time as documents write it."""
    return {
        "criterion": criterion,
        "status": CriterionStatus.CLAIMED.value,
        "claimed_by": agent,
        "session_id": session_id,
        "claimed_at": at,
        "evidence": list(evidence),
    }


def put_claims(
    criteria: Iterable[str], records: Iterable[Record], claims: Iterable[Record]
) -> tuple[Record, ...]:
    """Return the records of these criteria, in their order, with claims in the place of earlier ones.

    A claim that is made again stays as it is. What is about no criterion any more is left out.
    """
    by_criterion = map_records(records)
    for claim in claims:
        earlier = by_criterion.get(claim["criterion"])
        if earlier is None or any(earlier.get(name) != claim.get(name) for name in _CONTENT):
            by_criterion[claim["criterion"]] = claim
    return tuple(by_criterion[text] for text in dict.fromkeys(criteria) if text in by_criterion)


def confirm_claims(records: Iterable[Record], confirmed_by: str, at: str) -> tuple[Record, ...]:
    """Return the records, each claimed one met."""
    return tuple(
        record if record["status"] == CriterionStatus.MET else _confirm(record, confirmed_by, at)
        for record in records
    )


def map_records(records: Iterable[Record]) -> dict[str, Record]:
    """Map criteria to their records."""
    return {record["criterion"]: record for record in records}


def count_met(criteria: Iterable[str], records: Iterable[Record]) -> int:
    met = {record["criterion"] for record in records if record["status"] == CriterionStatus.MET}
    return sum(text in met for text in criteria)


def _confirm(record: Record, confirmed_by: str, at: str) -> Record:
    claim = {name: value for name, value in record.items() if name != "evidence"}
    confirmation = {"status": CriterionStatus.MET.value, "confirmed_by": confirmed_by, "confirmed_at": at}
    return {**claim, **confirmation, "evidence": record["evidence"]}
