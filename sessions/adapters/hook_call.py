"""Values between a client's hook and the control plane: the reported call and the answer to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# Ways in which clients tell a model how a command ended. What the command printed stands before it.
_EXIT_STATUS = re.compile(r"exit(?:ed)?(?: with)?(?: code| status):? (-?[0-9]{1,9})\b", re.IGNORECASE)

Payload = Mapping[str, Any]
Body = dict[str, Any]


class Event(StrEnum):
    """The kinds of events that the product tells apart; `OTHER` only shows that the session is alive."""

    PRE_TOOL = "pre_tool"
    POST_TOOL = "post_tool"
    PROMPT = "prompt"
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    SUBAGENT = "subagent"
    COMPACT = "compact"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FileContent:
    """The full text of a file after a tool has run; `before` is None where the client does not report it."""

    path: str
    after: str
    before: str | None = None


@dataclass(frozen=True, slots=True)
class HookCall:
    """A parsed payload. Its values are hostile: an adapter only picks them, the gate's reader checks them."""

    event: Event
    session_id: Any
    tool: Any = ""
    input: Any = None
    call_id: Any = None
    cwd: Any = None
    root: Any = None
    version: Any = ""
    model: Any = ""
    failed: bool = False  # the tool ran and reports that it changed nothing
    exit_status: Any = None  # of a command, and how long a tool ran: None where the client does not say
    duration_ms: Any = None
    contents: tuple[FileContent, ...] = field(default=())
    # Canonical path -> first and last changed line, found by our hook client in the file as the tool left it.
    changed_lines: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    line_changes: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)  # hunk by hunk


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """`denied`: the tool must not run, for the reason in `text`. `context` is text for the model.

    `containment` are the terms on which an allowed command may run.
    """

    denied: bool = False
    text: str = ""
    context: str = ""
    containment: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Client:
    """One row of the registry. `parse` takes a payload and its kind of event, `render` the event's own name.

    `max_wait_seconds` is how long a hook may be held open within the client's default time limit.
    """

    events: Mapping[str, Event]
    parse: Callable[[Payload, Event], HookCall]
    render: Callable[[str, HookAnswer], Body]
    max_wait_seconds: float


def event_table(**names: str) -> dict[str, Event]:
    """`events(pre_tool="PreToolUse", other="Stop Notification")` as a table from the client's names."""
    return {name: Event(kind) for kind, client_names in names.items() for name in client_names.split()}


def mapping(value: Any) -> Payload:
    """Return the value if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def first(data: Payload, *names: str) -> Any:
    """Return the value of the first key that is present and not null; None if there is none."""
    return next((data[name] for name in names if data.get(name) is not None), None)


def first_item(values: Any) -> Any:
    """Return the first item of a list; None for an empty list or anything else."""
    return values[0] if isinstance(values, list) and values else None


def find_exit_status(text: Any) -> int | None:
    """Return the exit status that a text for the model ends with; None where it names none."""
    found = _EXIT_STATUS.findall(text) if isinstance(text, str) else []
    return int(found[-1]) if found else None


def file_content(path: Any, after: Any, before: Any = None) -> tuple[FileContent, ...]:
    if not isinstance(path, str) or not isinstance(after, str):
        return ()
    return (FileContent(path, after, before if isinstance(before, str) else None),)
