"""Render the governance section of the system prompt, and select the tools to offer with it."""

from __future__ import annotations

from typing import Any

from controlplane.policy.calls.resolve_tool import select_safe_tools
from controlplane.policy.calls.toolsets import COMMON, TABLES
from controlplane.policy.model import ErrorType, Policy, Reason, Registry
from intents import registry
from intents.prompts import governance
from intents.prompts.recent_history import load_prompt_context
from intents.selectors import list_selectable_intents
from intents.store import to_values
from sessions.lifecycle.session_context import SessionContext, load_context
from sessions.models import AgentSession

CLOSED_REASONS = {
    "COMPLETED": Reason.COMPLETED,
    "ABANDONED": Reason.ABANDONED,
    "BLOCKED": Reason.BLOCKED,
}
Problem = tuple[ErrorType, Reason, str]


def render_prompt(session: AgentSession) -> str:
    """Render the governance section for the session's state. About 6 queries."""
    return _render_prompt(load_context(session))


def _render_prompt(context: SessionContext) -> str:
    """Choose the section: unavailable, ended, before or after the selection, or no longer active."""
    session = context.session
    if context.registry is not Registry.OK:
        return governance.render_unavailable(
            context.registry, registry.describe_unavailable(context.registry)
        )
    if session.ended:
        return governance.render_ended()
    if not session.selected_intent_id:
        return governance.render_before_selection(list_selectable_intents(session.workspace_id))
    if _find_problem(context) is not None or session.intent is None:
        intent = context.intent
        status, blocked = (intent.status, intent.blocked_reason) if intent else (None, "")
        return governance.render_inactive_intent(session.selected_intent_id, status, blocked)
    return governance.render_selected_intent(to_values(session.intent), load_prompt_context(session.intent))


def preflight(session: AgentSession, tools: list[Any] | None) -> dict[str, Any]:
    """Return prompt and tools, with `ok` false when the intent or the registry cannot be used."""
    context = load_context(session)
    problem = _find_problem(context)
    answer: dict[str, Any] = {"ok": problem is None, "prompt": _render_prompt(context)}
    if problem is not None:
        error_type, reason, error = problem
        answer |= {"error": error, "error_type": error_type.value, "reason": reason.value}
    everything = problem is None and bool(context.session.selected_intent_id)
    answer["tools"] = _filter_tools(tools, context.policy, context.session.agent_name, everything=everything)
    return answer


def _filter_tools(tools: list[Any] | None, policy: Policy, agent: str, *, everything: bool) -> list[Any]:
    """Return those of the client's tools to offer now; of all known ones when it names none."""
    candidates = list(TABLES.get(agent, COMMON)) if tools is None else tools
    if everything:
        return candidates
    offered = set(select_safe_tools([name for name in map(_tool_name, candidates) if name], policy, agent))
    return [tool for tool in candidates if _tool_name(tool) in offered]


def _tool_name(tool: Any) -> str:
    """Return the name of a tool: a name itself, or an object in OpenAI's or Anthropic's form."""
    if isinstance(tool, dict):
        tool = tool.get("name") or (tool.get("function") or {}).get("name")
    return tool if isinstance(tool, str) else ""


def _find_problem(context: SessionContext) -> Problem | None:
    if context.registry is not Registry.OK:
        text = registry.describe_unavailable(context.registry)
        return ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(context.registry.value), text
    if context.session.ended:
        return ErrorType.SESSION_ENDED, Reason.ENDED, "This session has ended. Start a new session."
    return _find_intent_problem(context) if context.session.selected_intent_id else None


def _find_intent_problem(context: SessionContext) -> Problem | None:
    intent, chosen = context.intent, context.session.selected_intent_id
    if intent is None:
        text = f"{chosen} is no longer in the registry. Start a new session and select another intent."
        return ErrorType.MISSING_OR_INVALID_INTENT, Reason.NOT_FOUND, text
    if context.intent_held_by_other:
        text = f"{chosen} was taken by another session while this one was silent. Start a new session."
        return ErrorType.INTENT_CONFLICT, Reason.HELD_BY_OTHER_SESSION, text
    if intent.status in CLOSED_REASONS:
        text = f"{chosen} is {intent.status.lower()}. Start a new session and select an active intent."
        return ErrorType.MISSING_OR_INVALID_INTENT, CLOSED_REASONS[intent.status], text
    return None
