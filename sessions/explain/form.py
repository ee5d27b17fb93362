"""The form of the Explain page: what a person wants to try, and from where."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import ParseError

from controlplane.api.parsers import parse_json
from intents.selectors import list_intent_names
from sessions.agent_titles import agent_title
from sessions.errors import GateInputError
from sessions.explain.steps import Standpoint
from sessions.gate.request import MAX_INPUT_BYTES, GateRequest, parse_gate_request
from sessions.pages.rows import alive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controlplane.models import Workspace

SESSIONS_SHOWN = 50
UNOPENED = "explain"  # the session that a call without one would open


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to say what the call is. `tool` is what it means; "" where the person names one."""

    value: str
    label: str
    says: str
    tool: str = ""
    key: str = ""  # of the tool's input that the text goes into


KINDS = (
    Kind("command", "A shell command", "The text is the command.", "Bash", "command"),
    Kind("write", "Writing a file", "The text is its path.", "Write", "file_path"),
    Kind("read", "Reading a file", "The text is its path.", "Read", "file_path"),
    Kind("tool", "Any tool", "The text is the tool's input as JSON; name the tool below."),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What stands in the form."""

    kind: str = "command"
    text: str = ""
    tool: str = ""
    cwd: str = ""
    standpoint: str = ""  # "" | session:<id> | intent:<id>


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Options:
    label: str
    choices: list[Option] = field(default_factory=list)


def from_post(post: Mapping[str, Any]) -> Trial:
    text = str(post.get("text", "")).replace("\r\n", "\n")
    named = {name: str(post.get(name, "")).strip() for name in ("kind", "tool", "cwd", "standpoint")}
    return Trial(text=text, **named)


def request_of(trial: Trial) -> GateRequest:
    """Build the request of a trial. Raise GateInputError with a text for the person."""
    kind = next((kind for kind in KINDS if kind.value == trial.kind), None)
    if kind is None:
        raise GateInputError("Choose what the text is.")
    tool_input = {kind.key: trial.text} if kind.tool else _json(trial.text)
    body = {
        "session_id": UNOPENED,
        "tool": kind.tool or trial.tool,
        "input": tool_input | {"content": ""} if kind.value == "write" else tool_input,
        "cwd": trial.cwd or None,
        "dry_run": True,
    }
    if len(trial.text.encode()) > MAX_INPUT_BYTES:
        raise GateInputError(f"The text is over {MAX_INPUT_BYTES} bytes.")
    return parse_gate_request(body, 0)


def standpoint_of(trial: Trial) -> Standpoint:
    kind, _, name = trial.standpoint.partition(":")
    return Standpoint(
        session_id=name if kind == "session" else "", intent_id=name if kind == "intent" else ""
    )


def standpoints(workspace: Workspace) -> list[Options]:
    """What the form offers. 2 queries."""
    intents = [
        Option(f"intent:{key}", f"{key} {name}") for key, name in list_intent_names(workspace.pk).items()
    ]
    sessions = [
        Option(f"session:{row.session_id}", _worded(row.session_id, row.agent_name, row.selected_intent_id))
        for row in alive(workspace).order_by("-last_seen_at")[:SESSIONS_SHOWN]
    ]
    return [Options("As if this intent were taken", intents), Options("As in this session", sessions)]


def _worded(session_id: str, agent: str, intent_id: str) -> str:
    return f"{session_id}: {agent_title(agent)}, {intent_id or 'no intent'}"


def _json(text: str) -> Any:
    try:
        return parse_json(text.encode())
    except ParseError as error:
        raise GateInputError(str(error.detail).replace("The body", "The text")) from error


def as_text(value: Any) -> str:
    """An input as the form shows it."""
    return json.dumps(value, ensure_ascii=False, indent=2)
