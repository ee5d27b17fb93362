"""Render the governance section of the system prompt, and select the tools to offer with it."""

from __future__ import annotations

from typing import Any

from controlplane.policy.calls.resolve_tool import select_safe_tools
from controlplane.policy.calls.toolsets import COMMON, TABLES
from controlplane.policy.calls.toolsets.kinds import HANDSHAKE
from controlplane.policy.model import ErrorType, Policy, Reason, Registry
from intents import registry
from intents.prompts import governance
from intents.prompts.recent_history import load_prompt_context
from intents.rules.ignore_files import find_excluded_intents
from intents.store import to_values
from sessions.errors import StoppedError
from sessions.lifecycle.available_intents import EXCLUDED, list_available_intents
from sessions.lifecycle.session_context import SessionContext, load_context
from sessions.models import AgentSession

CLOSED_REASONS = {
    "COMPLETED": Reason.COMPLETED,
    "ABANDONED": Reason.ABANDONED,
    "BLOCKED": Reason.BLOCKED,
    "PENDING": Reason.BLOCKED,  # put back by an import: the gate denies changes until it is started
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
            context.registry,
            registry.describe_unavailable(context.registry),
            may_read=_may_read_without_registry(context.policy),
        )
    if session.ended:
        return governance.render_ended()
    if not session.selected_intent_id:
        return governance.render_before_selection(
            list_available_intents(
                session.workspace_id,
                context.policy,
                find_excluded_intents(context.workspace),
                session=session,
            ),
            resumed_from=session.resumed_from,
        )
    if _find_problem(context) is not None or session.intent is None:
        intent = context.intent
        status, blocked = (intent.status, intent.blocked_reason) if intent else (None, "")
        return governance.render_inactive_intent(
            session.selected_intent_id, status, blocked, is_excluded=_is_excluded(context)
        )
    return governance.render_selected_intent(to_values(session.intent), load_prompt_context(session.intent))


def preflight(session: AgentSession, tools: list[Any] | None) -> dict[str, Any]:
    """Return prompt and tools, with `ok` false when the intent or the registry cannot be used."""
    context = load_context(session)
    problem = _find_problem(context)
    answer: dict[str, Any] = {"ok": problem is None, "prompt": _render_prompt(context)}
    if problem is not None:
        error_type, reason, error = problem
        answer |= {"error": error, "error_type": error_type.value, "reason": reason.value}
    answer["tools"] = _filter_tools(tools, context, is_ready=problem is None)
    return answer


def _filter_tools(tools: list[Any] | None, context: SessionContext, *, is_ready: bool) -> list[Any]:
    """Return those of the client's tools to offer now; of all known ones when it names none."""
    policy, agent = context.policy, context.session.agent_name
    table = TABLES.get(agent, COMMON)
    candidates = list(table) if tools is None else tools
    if is_ready and context.session.selected_intent_id:
        return candidates
    offered = set(select_safe_tools([name for name in map(_tool_name, candidates) if name], policy, agent))
    if context.registry is not Registry.OK and not _may_read_without_registry(policy):
        offered = {name for name in offered if table.get(name) == HANDSHAKE}
    return [tool for tool in candidates if _tool_name(tool) in offered]


def _tool_name(tool: Any) -> str:
    """Return the name of a tool: a name itself, or an object in OpenAI's or Anthropic's form."""
    if isinstance(tool, dict):
        tool = tool.get("name") or (tool.get("function") or {}).get("name")
    return tool if isinstance(tool, str) else ""


def _find_problem(context: SessionContext) -> Problem | None:
    if context.stopped:
        error = StoppedError(context.stopped)
        return ErrorType.SESSION_ENDED, Reason.STOPPED, error.error
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
    if _is_excluded(context):
        text = f"{chosen} is {EXCLUDED} now. Start a new session and select another intent."
        return ErrorType.INTENT_IGNORED, Reason.INTENTIGNORE, text
    return None


def _is_excluded(context: SessionContext) -> bool:
    return context.session.selected_intent_id in find_excluded_intents(context.workspace)


def _may_read_without_registry(policy: Policy) -> bool:
    return policy.when_unavailable == "deny_destructive"
