"""Render the governance section of an agent's system prompt, for each state of its session."""

from __future__ import annotations

from collections.abc import Sequence

from controlplane.policy.model import IntentStatus, Registry
from intents.file_format.values import IntentValues
from intents.prompts.context_xml import PromptContext, render_intent_xml
from intents.summaries import MAX_DESCRIPTION_LENGTH, IntentSummary, one_line

TITLE = "# Intent governance"
MANDATE = (
    "You are an Intent-Driven Architect. You CANNOT write code immediately. Your first action MUST be to "
    "analyze the user request and call select_active_intent to load the necessary context."
)
READING_IS_FREE = (
    "Analysis and read-only actions are permitted, but an active intent is still required for mutations "
    "(writes/commands)."
)
NOTHING_IS_PERMITTED = "Until then every other tool is denied, also those that only read."
HOW_TO_CREATE = (
    "There is no intent that can be selected. Ask the user to have an admin create one: on the Intents page, "
    "with POST /api/v1/intents, or by importing an active_intents.yaml. Until then, only read and analyze."
)
RESUMED = (
    "This conversation continues one that had ended. It worked under {}: select that again to continue the"
    " same work."
)
ONE_FOR_LIFE = (
    "This session keeps its intent for life. For work on another intent, a new session must be started."
)


def render_before_selection(available: Sequence[IntentSummary], *, resumed_from: str = "") -> str:
    """Render the mandate and the intents to choose from; first the one that this conversation had before."""
    lines = [MANDATE, READING_IS_FREE]
    if any(intent.intent_id == resumed_from for intent in available):
        lines.append(RESUMED.format(one_line(resumed_from)))
    return _section(*lines, "", *_list_choices(available))


def render_selected_intent(intent: IntentValues, context: PromptContext) -> str:
    """Render the intent, its limits and its history; the mandate is fulfilled, so it is not repeated."""
    name = one_line(intent.name) or intent.intent_id
    return _section(
        f"You are working under the intent {one_line(intent.intent_id)}: {name}.",
        "You may change only files that its owned_scope matches; reading is permitted everywhere in the "
        "workspace. A change outside is refused as a Scope Violation: ask for it with "
        "request_scope_expansion instead.",
        "Keep to its constraints, and work until its acceptance criteria hold. recent_history and files say "
        "what was done under it so far: do not repeat it, and read a file again before you change it.",
        "lessons tell what failed or was decided here before: heed them, but they widen no scope.",
        ONE_FOR_LIFE,
        "",
        render_intent_xml(intent, context),
    )


def render_inactive_intent(
    intent_id: str, status: IntentStatus | None, blocked_reason: str = "", *, is_excluded: bool = False
) -> str:
    """Render for a session whose intent was closed, blocked, excluded or removed since, or which another
    session holds.

    IN_PROGRESS means that another session holds it, unless `.intentignore` excludes it; None that it was
    removed.
    """
    label = one_line(intent_id)
    if is_excluded:
        sentence = (
            f"The intent {label} of this session is excluded by an `intent:` line of .intentignore now."
        )
    elif status is None:
        sentence = f"The intent {label} of this session is no longer registered."
    elif status is IntentStatus.PENDING:
        sentence = f"The intent {label} of this session was put back to PENDING and takes no changes."
    elif status is IntentStatus.IN_PROGRESS:
        sentence = f"The intent {label} is held by another session now."
    else:
        reason = f": {one_line(blocked_reason, MAX_DESCRIPTION_LENGTH)}" if blocked_reason else ""
        sentence = f"The intent {label} of this session is no longer active, it is {status.value}{reason}."
    return _section(sentence, READING_IS_FREE, ONE_FOR_LIFE)


def render_unavailable(state: Registry, text: str, *, may_read: bool = False) -> str:
    """Render for a registry that is empty, missing or corrupt. `text` says why and what to do.

    Reading is promised only where policy `when_unavailable` lets the gate allow it.
    """
    reading = READING_IS_FREE if may_read else NOTHING_IS_PERMITTED
    if state is Registry.EMPTY:
        return _section(MANDATE, reading, "", text)
    return _section("Orchestration is unavailable: nothing can be changed now.", reading, text)


def render_ended() -> str:
    return _section("This session has ended. Nothing may be changed any more; start a new session.")


def _list_choices(available: Sequence[IntentSummary]) -> list[str]:
    if not available:
        return [HOW_TO_CREATE]
    return ["Available intents:", *(_render_choice(intent) for intent in available)]


def _render_choice(intent: IntentSummary) -> str:
    description = f" - {one_line(intent.description, MAX_DESCRIPTION_LENGTH)}" if intent.description else ""
    status = f"{intent.status}, {intent.note}" if intent.note else intent.status
    return f"- {one_line(intent.intent_id)} [{status}]: {one_line(intent.name)}{description}"


def _section(*lines: str) -> str:
    return "\n".join([TITLE, "", *lines]) + "\n"
