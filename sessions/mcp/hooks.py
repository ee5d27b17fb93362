"""`gate_tool_call`: the hooks of clients that can call an MCP tool from a hook, through the same adapters as
`POST /hooks/{agent}/{event}`.

The answer is hook JSON. What goes wrong before a tool is a denial and never an error, on which Codex
would run the tool.
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
from controlplane.shared.metrics import observe_decision
from sessions.adapters.dispatch import Outcome, Report, act
from sessions.adapters.hook_call import Answer, Body, Event
from sessions.adapters.parse import ALONGSIDE, read_hook
from sessions.adapters.refusal_text import failure
from sessions.adapters.registry import CLIENTS
from sessions.gate.request import invalid
from sessions.live.hub import hub
from sessions.mcp.session_binding import Caller
from sessions.mcp.threads import in_thread

log = logging.getLogger(__name__)

AGENTS = ("claude-code", "codex")  # both speak the same form
BEFORE_TOOL = "PreToolUse"
TOLD = frozenset({Event.PROMPT, Event.SESSION_START})
FAILED = "The gate failed on this call."
OBJECTS = ("tool_input", "tool_response")
BESIDE = ("root", "wait_seconds", "dry_run")
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
    """Raises `ApiError` only for events whose failure lets no tool through."""
    agent = arguments.get("agent")
    event = arguments.get("hook_event_name") or BEFORE_TOOL
    client = CLIENTS[agent if agent in AGENTS else AGENTS[0]]
    meaning = client.events.get(event) if isinstance(event, str) else None
    try:
        answer = await _answer(caller, agent, event, arguments)
    except ApiError as error:
        answer = _failed(error, meaning)
    except Exception as error:
        log.exception("the gate failed on a hook's call")
        answer = _failed(ApiError(500, "INTERNAL_ERROR", FAILED), meaning, error)
    return client.render(event if meaning else BEFORE_TOOL, answer)


async def _answer(caller: Caller | ApiError, agent: Any, event: Any, arguments: Mapping[str, Any]) -> Answer:
    if isinstance(caller, ApiError):
        raise caller
    if agent not in AGENTS:
        raise invalid(f"agent must be one of {', '.join(AGENTS)}: correct the hook's input.")
    began = time.perf_counter()
    payload = _payload(arguments)
    hook, asked = read_hook(agent, event, payload, len(json.dumps(payload, ensure_ascii=False).encode()))
    report = Report(caller.bearer, hook, asked)
    outcome = await in_thread(act, report)
    seconds = min(asked.wait_seconds, CLIENTS[agent].wait_most)
    if outcome.approval and seconds:
        outcome = await _decided(report, outcome, seconds)
    if outcome.decision:
        observe_decision(outcome.decision, time.perf_counter() - began)
    return outcome.answer


async def _decided(report: Report, outcome: Outcome, seconds: float) -> Outcome:
    """Held on the event loop: no thread waits for a person."""
    if not await hub().until_decided(outcome.approval, seconds):
        return outcome
    return await in_thread(act, replace(report, request=replace(report.request, resumed=outcome.approval)))


def _failed(error: ApiError, meaning: Event | None, cause: Exception | None = None) -> Answer:
    told = failure(error.error)
    if meaning in {None, Event.PRE_TOOL}:
        return told
    if meaning in TOLD:
        return Answer(context=told.text)
    raise error from cause


def _payload(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """As the client would give it to a hook command. An empty text is a placeholder without a value.

    Claude Code sends objects as JSON text, and numbers and truth as text too; Codex sends them as they are.
    """
    try:
        check_text(dict(arguments))
    except ValueError as error:
        raise invalid(f"The arguments cannot be stored: {error}.") from error
    told = {name: value for name, value in arguments.items() if value is not None and value != ""}
    beside = {name: told.pop(name) for name in BESIDE if name in told}
    payload = {name: _object(name, value) for name, value in told.items() if name != "agent"}
    if "wait_seconds" in beside:
        beside["wait_seconds"] = _seconds(beside["wait_seconds"])
    if isinstance(beside.get("dry_run"), str):
        beside["dry_run"] = TRUTH.get(beside["dry_run"], beside["dry_run"])
    return payload | {ALONGSIDE: beside}


def _object(name: str, value: Any) -> Any:
    """The result of a tool may be any text; its input is an object."""
    if name not in OBJECTS or not isinstance(value, str) or not value.startswith("{"):
        return value
    try:
        return parse_json(value.encode())
    except (ParseError, ValueError) as error:
        if name == "tool_input":
            raise invalid(f"tool_input cannot be read: {error}") from error
        return value


def _seconds(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError as error:
        raise invalid("wait_seconds must be a number.") from error
