"""Read the form of the Explain page: the call to try and the viewpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import ParseError

from controlplane.api.parsers import parse_json
from controlplane.templatetags.names import agent_title
from intents.selectors import list_intent_names
from sessions.errors import GateInputError
from sessions.explain.steps import Viewpoint
from sessions.gate.limits import MAX_INPUT_BYTES
from sessions.gate.request import GateRequest, parse_gate_request
from sessions.pages.rows import list_open_sessions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controlplane.models import Workspace

SESSIONS_SHOWN = 50
DRY_RUN_SESSION = "explain"  # the session that a call without one would open


@dataclass(frozen=True, slots=True)
class TrialKind:
    """A way to enter a call. `tool` is the tool that it stands for; "" where the person names one."""

    value: str
    label: str
    hint: str
    tool: str = ""
    key: str = ""  # of the tool's input that the text goes into


KINDS = (
    TrialKind("command", "A shell command", "The text is the command.", "Bash", "command"),
    TrialKind("write", "Writing a file", "The text is its path.", "Write", "file_path"),
    TrialKind("read", "Reading a file", "The text is its path.", "Read", "file_path"),
    TrialKind("tool", "Any tool", "The text is the tool's input as JSON; name the tool below."),
)


@dataclass(frozen=True, slots=True)
class ExplainInput:
    """The submitted or initial values of the form."""

    kind: str = "command"
    text: str = ""
    tool: str = ""
    cwd: str = ""
    viewpoint: str = ""  # "" | session:<id> | intent:<id>


@dataclass(frozen=True, slots=True)
class SelectOption:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class OptionGroup:
    label: str
    choices: list[SelectOption] = field(default_factory=list)


def read_post(post: Mapping[str, Any]) -> ExplainInput:
    text = str(post.get("text", "")).replace("\r\n", "\n")
    fields = {name: str(post.get(name, "")).strip() for name in ("kind", "tool", "cwd", "viewpoint")}
    return ExplainInput(text=text, **fields)


def build_request(data: ExplainInput) -> GateRequest:
    """Build the gate request. Raise GateInputError with a text for the person."""
    kind = next((kind for kind in KINDS if kind.value == data.kind), None)
    if kind is None:
        raise GateInputError("Choose what the text is.")
    tool_input = {kind.key: data.text} if kind.tool else _parse_json_text(data.text)
    body = {
        "session_id": DRY_RUN_SESSION,
        "tool": kind.tool or data.tool,
        "input": tool_input | {"content": ""} if kind.value == "write" else tool_input,
        "cwd": data.cwd or None,
        "dry_run": True,
    }
    if len(data.text.encode()) > MAX_INPUT_BYTES:
        raise GateInputError(f"The text is over {MAX_INPUT_BYTES} bytes.")
    return parse_gate_request(body, 0)


def parse_viewpoint(data: ExplainInput) -> Viewpoint:
    kind, _, name = data.viewpoint.partition(":")
    return Viewpoint(session_id=name if kind == "session" else "", intent_id=name if kind == "intent" else "")


def list_viewpoints(workspace: Workspace) -> list[OptionGroup]:
    """Return the viewpoints that the form offers. 2 queries."""
    intents = [
        SelectOption(f"intent:{key}", f"{key} {name}")
        for key, name in list_intent_names(workspace.pk).items()
    ]
    sessions = [
        SelectOption(
            f"session:{row.session_id}",
            _session_label(row.session_id, row.agent_name, row.selected_intent_id),
        )
        for row in list_open_sessions(workspace).order_by("-last_seen_at")[:SESSIONS_SHOWN]
    ]
    return [OptionGroup("As if this intent were taken", intents), OptionGroup("As in this session", sessions)]


def _session_label(session_id: str, agent: str, intent_id: str) -> str:
    return f"{session_id}: {agent_title(agent)}, {intent_id or 'no intent'}"


def _parse_json_text(text: str) -> Any:
    try:
        return parse_json(text.encode())
    except ParseError as error:
        raise GateInputError(str(error.detail).replace("The body", "The text")) from error


def to_json_text(value: Any) -> str:
    """Return a tool input as the form shows it."""
    return json.dumps(value, ensure_ascii=False, indent=2)
