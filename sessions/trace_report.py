"""Record a mutation that a session reports, under the session's intent."""

from __future__ import annotations

from typing import Any

from controlplane.shared.masking import to_storable
from sessions.models import AgentSession
from sessions.previous_text import ReportedTexts, examine_change
from sessions.representations import format_time
from traces.entries.record import Mutation, MutationAuthor, record_mutation
from traces.entry_schema import COMPUTED_CLASS_FIELD


def record_trace(
    session: AgentSession,
    data: dict[str, Any],
    actor: str,
    reported: ReportedTexts | None = None,
    *,
    with_class: bool = True,
) -> tuple[dict[str, Any], bool]:
    """Return the answer, and whether the mutation is new.

    `reported` is what a hook adds to `data`. Without `with_class` the class and the symbols are left unknown,
    for callers that have no time to compute them.

    Raise `MutationFieldError` or `DuplicateIdError`.
    """
    errors = data.get("problems")
    if isinstance(errors, list):
        errors = "\n".join(str(problem) for problem in errors)
    fields = {name: value for name, value in data.items() if name not in {"problems", "line_changes"}}
    facts = examine_change(session, data, reported, with_class=with_class)
    mutation = Mutation(
        **fields,
        problems=to_storable(str(errors)) if errors else None,
        computed_class=facts.computed_class,
        symbols=facts.symbols,
        is_new_file=facts.is_new_file,
        line_changes=facts.line_changes,
        previous_hash=facts.previous_hash,
    )
    author = build_author(session, actor)
    recorded = record_mutation(session.workspace_id, mutation, author)
    answer = {
        "id": recorded.entry["id"],
        "status": "pending",
        "leaf_hash": recorded.leaf_hash.hex(),
        "received_at": format_time(recorded.received_at),
        "entry": recorded.entry,
        "computed_mutation_class": recorded.entry.get(COMPUTED_CLASS_FIELD),
    }
    return answer, recorded.new


def build_author(session: AgentSession, actor: str) -> MutationAuthor:
    return MutationAuthor(
        session_id=session.session_id,
        intent_id=session.selected_intent_id,
        agent=session.agent_name,
        model=session.agent_model,
        agent_version=session.agent_version,
        actor=actor,
    )
