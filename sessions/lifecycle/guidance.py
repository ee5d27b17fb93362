"""What an agent's model is told, and which tools it may be offered, before a prompt goes out."""

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

NO_LONGER = {
    "COMPLETED": Reason.COMPLETED,
    "ABANDONED": Reason.ABANDONED,
    "BLOCKED": Reason.BLOCKED,
}
Problem = tuple[ErrorType, Reason, str]


def prompt_of(session: AgentSession) -> str:
    """The governance section for this session's state."""
    return prompt_for(load_context(session))


def prompt_for(context: SessionContext) -> str:
    """The section for what is so now: unavailable, ended, before selection, after it, or no longer active."""
    session = context.session
    if context.registry is not Registry.OK:
        return governance.render_unavailable(
            context.registry, registry.describe_unavailable(context.registry)
        )
    if session.ended:
        return governance.render_ended()
    if not session.selected_intent_id:
        return governance.render_before_selection(list_selectable_intents(session.workspace_id))
    if _problem(context) is not None or session.intent is None:
        intent = context.intent
        status, blocked = (intent.status, intent.blocked_reason) if intent else (None, "")
        return governance.render_inactive_intent(session.selected_intent_id, status, blocked)
    return governance.render_selected_intent(to_values(session.intent), load_prompt_context(session.intent))


def preflight(session: AgentSession, tools: list[Any] | None) -> dict[str, Any]:
    """`ok` false when the session's intent is no longer active or the registry is unavailable."""
    context = load_context(session)
    problem = _problem(context)
    answer: dict[str, Any] = {"ok": problem is None, "prompt": prompt_for(context)}
    if problem is not None:
        error_type, reason, error = problem
        answer |= {"error": error, "error_type": error_type.value, "reason": reason.value}
    everything = problem is None and bool(context.session.selected_intent_id)
    answer["tools"] = _offered(tools, context.policy, context.session.agent_name, everything=everything)
    return answer


def _offered(tools: list[Any] | None, policy: Policy, agent: str, *, everything: bool) -> list[Any]:
    """Of the client's tools (all that are known for it, when it names none) those to offer now."""
    listed = list(TABLES.get(agent, COMMON)) if tools is None else tools
    if everything:
        return listed
    shown = set(select_safe_tools([name for name in map(_name_of, listed) if name], policy, agent))
    return [tool for tool in listed if _name_of(tool) in shown]


def _name_of(tool: Any) -> str:
    """A tool is a name, or an object that carries one, in OpenAI's or Anthropic's form."""
    if isinstance(tool, dict):
        tool = tool.get("name") or (tool.get("function") or {}).get("name")
    return tool if isinstance(tool, str) else ""


def _problem(context: SessionContext) -> Problem | None:
    if context.registry is not Registry.OK:
        text = registry.describe_unavailable(context.registry)
        return ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(context.registry.value), text
    if context.session.ended:
        return ErrorType.SESSION_ENDED, Reason.ENDED, "This session has ended. Start a new session."
    return _intent_problem(context) if context.session.selected_intent_id else None


def _intent_problem(context: SessionContext) -> Problem | None:
    intent, chosen = context.intent, context.session.selected_intent_id
    if intent is None:
        text = f"{chosen} is no longer in the registry. Start a new session and select another intent."
        return ErrorType.MISSING_OR_INVALID_INTENT, Reason.NOT_FOUND, text
    if context.intent_held_by_other:
        text = f"{chosen} was taken by another session while this one was silent. Start a new session."
        return ErrorType.INTENT_CONFLICT, Reason.HELD_BY_OTHER_SESSION, text
    if intent.status in NO_LONGER:
        text = f"{chosen} is {intent.status.lower()}. Start a new session and select an active intent."
        return ErrorType.MISSING_OR_INVALID_INTENT, NO_LONGER[intent.status], text
    return None
