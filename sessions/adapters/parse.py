"""From the body of a hook to a checked report. Everything in it is hostile."""

from __future__ import annotations

from typing import Any

from controlplane.api.errors import ApiError
from sessions.adapters.hook_call import Client, Event, HookCall, first, mapping
from sessions.adapters.registry import CLIENTS
from sessions.gate.request import GateRequest, invalid, parse_gate_request

ALONGSIDE = "icp"  # the one key that our hook client adds to the client's own payload
ALONGSIDE_FIELDS = frozenset(
    {"current_content_hashes", "links", "revision_id", "wait_seconds", "root", "dry_run", "client_version"}
)
NAMES_ITSELF = ("hook_event_name", "hookEventName", "agent_action_name")
NO_TOOL = "-"  # stands for the tool of an event that has none


def client_of(agent: str) -> Client:
    if agent not in CLIENTS:
        known = ", ".join(sorted(CLIENTS))
        raise ApiError(404, "NOT_FOUND", f"No agent is called {agent!r} here. Known are: {known}.")
    return CLIENTS[agent]


def meaning_of(client: Client, event: str) -> Event | None:
    """None for an event that the client does not have: a misspelled one must not let tools through."""
    return client.events.get(event)


def name_in(payload: Any) -> str | None:
    """What the payload calls its own event, where it does."""
    said = first(mapping(payload), *NAMES_ITSELF)
    return said if isinstance(said, str) else None


def read_hook(agent: str, event: str, payload: Any, size: int) -> tuple[HookCall, GateRequest]:
    """`size` is the raw body's length in bytes. Raises `ApiError` 400, `HOOK_BLOCKED`, and 404."""
    client = client_of(agent)
    meaning = meaning_of(client, event)
    if meaning is None:
        raise invalid(f"{agent} has no event {event!r}. Known are: {', '.join(sorted(client.events))}.")
    if not isinstance(payload, dict):
        raise invalid("The body must be the JSON object that the client gives its hook.")
    said = name_in(payload) or event
    if said != event:
        raise invalid(f"The payload is of {said!r}, but was sent as {event!r}: correct the hook's address.")
    hook = client.parse(payload, meaning)
    return hook, parse_gate_request(_request(agent, hook, _alongside(payload)), size)


def _alongside(payload: dict[str, Any]) -> dict[str, Any]:
    told = payload.get(ALONGSIDE)
    if told is None:
        return {}
    if not isinstance(told, dict) or set(told) - ALONGSIDE_FIELDS:
        raise invalid(f"{ALONGSIDE} must be an object of: {', '.join(sorted(ALONGSIDE_FIELDS))}.")
    return dict(mapping(told))


def _request(agent: str, hook: HookCall, told: dict[str, Any]) -> dict[str, Any]:
    """As a request to the gate, whose reader checks every field."""
    version = told.pop("client_version", None)
    about_tool = hook.event in {Event.PRE_TOOL, Event.POST_TOOL}
    return {
        "session_id": hook.session_id,
        "tool": hook.tool if about_tool else NO_TOOL,
        "input": hook.input if about_tool else None,
        "tool_use_id": hook.call_id,
        "cwd": hook.cwd,
        "agent": {"name": agent, "version": hook.version, "model": hook.model, "hook": version},
        **told,
        "root": told.get("root") or hook.root,
    }
