"""Turn what an agent says about its criteria into claims that name recorded evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controlplane.shared.errors import InvalidInputError
from controlplane.shared.masking import to_storable
from intents.evidence.records import Record, build_claim
from intents.evidence.schema import find_claim_problem
from intents.models import Intent
from intents.store import now_timestamp
from intents.summaries import one_line
from sessions.lifecycle.evidence import EvidenceFinder
from sessions.models import AgentSession

CLAIMS_FIELD = "acceptance_evidence"  # in calls, in approvals and in documents
MAX_PIECES = 100  # of evidence in one call
MAX_AGENT_NAME = 100


def build_claims(session: AgentSession, intent: Intent, sent: Any) -> list[Record]:
    """Return one claim a criterion; none where nothing was sent. `sent` is the agent's own, of any form.

    Raise InvalidInputError, which names the place, for a criterion that the intent does not have and for
    evidence that is not recorded for it.
    """
    if sent is None:
        return []
    problem = find_claim_problem(sent)
    if problem is not None:
        raise InvalidInputError(f"{CLAIMS_FIELD}: {problem}")
    if sum(len(claim["evidence"]) for claim in sent) > MAX_PIECES:
        raise InvalidInputError(f"{CLAIMS_FIELD}: holds more than {MAX_PIECES} pieces of evidence.")
    finder = EvidenceFinder(session, intent.intent_id)
    claims: dict[str, Record] = {}
    for number, claim in enumerate(sent):
        criterion = _find_criterion(intent, claim["criterion"], f"{CLAIMS_FIELD}.{number}.criterion")
        if criterion in claims:
            raise InvalidInputError(f"{CLAIMS_FIELD}.{number}.criterion: is claimed twice.")
        claims[criterion] = build_claim(
            criterion,
            _find_all(finder, claim, f"{CLAIMS_FIELD}.{number}.evidence"),
            agent=one_line(to_storable(session.agent_name), MAX_AGENT_NAME),
            session_id=session.session_id,
            at=now_timestamp(),
        )
    return list(claims.values())


def _find_criterion(intent: Intent, named: str | int, place: str) -> str:
    criteria: list[str] = intent.acceptance_criteria
    if isinstance(named, int) and 1 <= named <= len(criteria):
        return criteria[named - 1]
    if named in criteria:
        return str(named)
    known = "; ".join(f"{number}. {one_line(text, 80)}" for number, text in enumerate(criteria, 1))
    raise InvalidInputError(f"{place}: is none of {intent.intent_id}: {known or 'it has no criteria'}.")


def _find_all(finder: EvidenceFinder, claim: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    found = []
    for number, piece in enumerate(claim["evidence"]):
        try:
            found.append(finder.find(piece))
        except InvalidInputError as error:
            raise InvalidInputError(f"{place}.{number}: {error.error}") from error
    return found
