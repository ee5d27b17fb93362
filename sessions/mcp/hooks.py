"""Answer `gate_tool_call`, for clients whose hooks can call an MCP tool, by the adapters of `POST /hooks`.

The answer is hook JSON. Any failure before a tool is a denial and never an error, on which Codex would run
the tool.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rest_framework.exceptions import ParseError

from controlplane.api.errors import ApiError
from controlplane.api.parsers import check_text, parse_json
from controlplane.shared.errors import DomainError
from controlplane.shared.metrics import observe_decision
from sessions.adapters.dispatch import HookRequest, HookResult, handle_hook
from sessions.adapters.hook_call import Body, Event, HookAnswer
from sessions.adapters.news import tell_news
from sessions.adapters.parse import CLIENT_KEY, parse_hook
from sessions.adapters.refusal_text import failure_answer
from sessions.adapters.registry import CLIENTS
from sessions.errors import GateInputError
from sessions.live.hub import hub
from sessions.mcp.session_binding import Caller
from sessions.mcp.threads import in_thread

log = logging.getLogger(__name__)

AGENTS = ("claude-code", "codex")  # both speak the same form
BEFORE_TOOL = "PreToolUse"
PROMPT_EVENTS = frozenset({Event.PROMPT, Event.SESSION_START})
FAILED = "The gate failed on this call."
OBJECTS = ("tool_input", "tool_response")
CLIENT_ARGUMENTS = ("root", "wait_seconds", "dry_run")
TRUTH: Mapping[Any, bool] = {"true": True, "false": False}
FIELDS = (
    "agent", "hook_event_name", "session_id", "cwd", "tool_name", "tool_use_id", "model", "prompt", "root",
)  # fmt: skip
DESCRIPTION = (
    "For the client's hooks, not for models: asks the gate before a tool runs, and reports what it did."
)
# As loose as can be: a call that does not fit must reach us, to be denied in the hook's own form.
INPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in FIELDS},
        **{name: {} for name in (*OBJECTS, "wait_seconds", "dry_run")},
    },
}


async def answer_hook(caller: Caller | ApiError, arguments: Mapping[str, Any]) -> Body:
    """Return the hook's answer. Raise `ApiError` only for events whose failure lets no tool through."""
    agent = arguments.get("agent")
    event = arguments.get("hook_event_name") or BEFORE_TOOL
    client = CLIENTS[agent if agent in AGENTS else AGENTS[0]]
    kind = client.events.get(event) if isinstance(event, str) else None
    try:
        answer = await _handle(caller, agent, event, arguments)
    except (DomainError, ApiError) as error:
        answer = _answer_failure(error, kind)
    except Exception as error:
        log.exception("the gate failed on a hook's call")
        answer = _answer_failure(ApiError(500, "INTERNAL_ERROR", FAILED), kind, error)
    return client.render(event if kind else BEFORE_TOOL, answer)


async def _handle(
    caller: Caller | ApiError, agent: Any, event: Any, arguments: Mapping[str, Any]
) -> HookAnswer:
    if isinstance(caller, ApiError):
        raise caller
    if agent not in AGENTS:
        raise GateInputError(f"agent must be one of {', '.join(AGENTS)}: correct the hook's input.")
    started = time.perf_counter()
    payload = _build_payload(arguments)
    hook, gate_request = parse_hook(
        agent, event, payload, len(json.dumps(payload, ensure_ascii=False).encode())
    )
    request = HookRequest(caller.bearer, hook, gate_request)
    result = await in_thread(_handle_and_tell, request, event)
    seconds = min(gate_request.wait_seconds, CLIENTS[agent].max_wait_seconds)
    if result.approval and seconds:
        result = await _wait_for_decision(request, result, seconds)
    if result.decision:
        observe_decision(result.decision, time.perf_counter() - started)
    return result.answer


async def _wait_for_decision(request: HookRequest, result: HookResult, seconds: float) -> HookResult:
    """Wait on the event loop, so that no thread waits for a person."""
    if not await hub().wait_for_decision(result.approval, seconds):
        return result
    resumed = replace(request, gate_request=replace(request.gate_request, resumed=result.approval))
    return await in_thread(_handle_and_tell, resumed, BEFORE_TOOL)


def _handle_and_tell(request: HookRequest, event: str) -> HookResult:
    client = CLIENTS[request.gate_request.call.agent]
    return tell_news(request, handle_hook(request), client, event)


def _answer_failure(
    error: DomainError | ApiError, kind: Event | None, cause: Exception | None = None
) -> HookAnswer:
    answer = failure_answer(error.error)
    if kind in {None, Event.PRE_TOOL}:
        return answer
    if kind in PROMPT_EVENTS:
        return HookAnswer(context=answer.text)
    raise error from cause


def _build_payload(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Rebuild the payload of a hook command. An empty text stands for a placeholder without a value.

    Claude Code sends objects as JSON text, and numbers and truth as text too; Codex sends them as they are.
    """
    try:
        check_text(dict(arguments))
    except ValueError as error:
        raise GateInputError(f"The arguments cannot be stored: {error}.") from error
    values = {name: value for name, value in arguments.items() if value is not None and value != ""}
    client_fields = {name: values.pop(name) for name in CLIENT_ARGUMENTS if name in values}
    payload = {name: _decode_object(name, value) for name, value in values.items() if name != "agent"}
    if "wait_seconds" in client_fields:
        client_fields["wait_seconds"] = _decode_seconds(client_fields["wait_seconds"])
    if isinstance(client_fields.get("dry_run"), str):
        client_fields["dry_run"] = TRUTH.get(client_fields["dry_run"], client_fields["dry_run"])
    return payload | {CLIENT_KEY: client_fields}


def _decode_object(name: str, value: Any) -> Any:
    """Decode an object sent as JSON text. A tool's result may be any text, its input is an object."""
    if name not in OBJECTS or not isinstance(value, str) or not value.startswith("{"):
        return value
    try:
        return parse_json(value.encode())
    except (ParseError, ValueError) as error:
        if name == "tool_input":
            raise GateInputError(f"tool_input cannot be read: {error}") from error
        return value


def _decode_seconds(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError as error:
        raise GateInputError("wait_seconds must be a number.") from error
