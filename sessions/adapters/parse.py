"""Parse the body of a hook into a request to the gate. Everything in it is hostile."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from controlplane.shared.errors import NotFoundError
from sessions.adapters.hook_call import Client, Event, HookCall, first, mapping
from sessions.adapters.registry import CLIENTS
from sessions.errors import GateInputError
from sessions.gate.request import GateRequest, parse_gate_request
from traces.change_fields import MAX_LINE_CHANGES, parse_line_changes
from traces.entry_schema import MAX_LINE_LENGTH

CLIENT_KEY = "icp"  # the one key that our hook client adds to the payload of the agent
CLIENT_FIELDS = frozenset(
    {
        "current_content_hashes",
        "links",
        "revision_id",
        "wait_seconds",
        "root",
        "repository",
        "dry_run",
        "client_program",
        "client_version",
        "containment",
        "changed_lines",
        "line_changes",
    }
)
MAX_CHANGED_FILES = 500
LineNumber = Annotated[int, Field(ge=1, lt=MAX_LINE_LENGTH)]
CHANGED_LINES: TypeAdapter[dict[str, tuple[LineNumber, LineNumber]]] = TypeAdapter(
    Annotated[dict[str, tuple[LineNumber, LineNumber]], Field(max_length=MAX_CHANGED_FILES)]
)
BAD_CHANGED_LINES = (
    f"changed_lines must be an object of at most {MAX_CHANGED_FILES} files: path to [first, last] line."
)
BAD_LINE_CHANGES = (
    f"line_changes must be an object of at most {MAX_CHANGED_FILES} files: path to at most "
    f"{MAX_LINE_CHANGES} objects of start_line, line_count, content_hash, previous_line_count "
    "and previous_hash."
)
EVENT_NAME_KEYS = ("hook_event_name", "hookEventName", "agent_action_name")
NO_TOOL = "-"  # stands for the tool of an event that has none


def find_client(agent: str) -> Client:
    if agent not in CLIENTS:
        known = ", ".join(sorted(CLIENTS))
        raise NotFoundError(f"No agent is called {agent!r} here. Known are: {known}.")
    return CLIENTS[agent]


def find_event(client: Client, event: str) -> Event | None:
    """Return the kind of an event; None for an unknown one: a misspelled event must let no tool through."""
    return client.events.get(event)


def event_name_in(payload: Any) -> str | None:
    """Return the name that a payload gives its own event; None where it gives none."""
    name = first(mapping(payload), *EVENT_NAME_KEYS)
    return name if isinstance(name, str) else None


def parse_hook(agent: str, event: str, payload: Any, size: int) -> tuple[HookCall, GateRequest]:
    """Parse and check a hook whose raw body has `size` bytes. Raise GateInputError or NotFoundError."""
    client = find_client(agent)
    kind = find_event(client, event)
    if kind is None:
        raise GateInputError(
            f"{agent} has no event {event!r}. Known are: {', '.join(sorted(client.events))}."
        )
    if not isinstance(payload, dict):
        raise GateInputError("The body must be the JSON object that the client gives its hook.")
    name = event_name_in(payload) or event
    if name != event:
        raise GateInputError(
            f"The payload is of {name!r}, but was sent as {event!r}: correct the hook's address."
        )
    client_fields = _client_fields(payload)
    changed_lines = _parse_changed_lines(client_fields.pop("changed_lines", None))
    line_changes = _parse_line_changes(client_fields.pop("line_changes", None))
    hook = replace(client.parse(payload, kind), changed_lines=changed_lines, line_changes=line_changes)
    return hook, parse_gate_request(_gate_body(agent, hook, client_fields), size)


def _client_fields(payload: dict[str, Any]) -> dict[str, Any]:
    fields = payload.get(CLIENT_KEY)
    if fields is None:
        return {}
    if not isinstance(fields, dict) or set(fields) - CLIENT_FIELDS:
        raise GateInputError(f"{CLIENT_KEY} must be an object of: {', '.join(sorted(CLIENT_FIELDS))}.")
    return dict(mapping(fields))


def _parse_changed_lines(value: Any) -> dict[str, tuple[int, int]]:
    try:
        lines = CHANGED_LINES.validate_python(value or {})
    except ValidationError as error:
        raise GateInputError(BAD_CHANGED_LINES) from error
    if any(first > last for first, last in lines.values()):
        raise GateInputError(BAD_CHANGED_LINES)
    return lines


def _parse_line_changes(value: Any) -> dict[str, list[dict[str, Any]]]:
    if value is None:
        return {}
    is_small = isinstance(value, dict) and len(value) <= MAX_CHANGED_FILES
    if not is_small or any(parse_line_changes(hunks) is None for hunks in value.values()):
        raise GateInputError(BAD_LINE_CHANGES)
    return dict(value)


def _gate_body(agent: str, hook: HookCall, client_fields: dict[str, Any]) -> dict[str, Any]:
    """Build the body of a gate request, whose reader checks every field."""
    version = client_fields.pop("client_version", None)
    about_tool = hook.event in {Event.PRE_TOOL, Event.POST_TOOL}
    return {
        "session_id": hook.session_id,
        "tool": hook.tool if about_tool else NO_TOOL,
        "input": hook.input if about_tool else None,
        "tool_use_id": hook.call_id,
        "cwd": hook.cwd,
        "agent": {"name": agent, "version": hook.version, "model": hook.model, "hook": version},
        **client_fields,
        "root": client_fields.get("root") or hook.root,
    }
