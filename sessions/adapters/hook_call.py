"""The values between a client's hook and the control plane: what was reported, what is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Payload = Mapping[str, Any]
Body = dict[str, Any]


class Event(StrEnum):
    """What a client's event means to us; `OTHER` is a sign of life and nothing more."""

    PRE_TOOL = "pre_tool"
    POST_TOOL = "post_tool"
    PROMPT = "prompt"
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    SUBAGENT = "subagent"
    COMPACT = "compact"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FileText:
    """The whole text of a file after a tool has run. `before` is None where the client does not say."""

    path: str
    after: str
    before: str | None = None


@dataclass(frozen=True, slots=True)
class HookCall:
    """A hook's payload, read. Values are the client's own and hostile: nothing is checked here."""

    event: Event
    session_id: Any
    tool: Any = ""
    input: Any = None
    call_id: Any = None
    cwd: Any = None
    root: Any = None
    version: Any = ""
    model: Any = ""
    failed: bool = False  # the tool ran and says that it did nothing
    texts: tuple[FileText, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Answer:
    """`refused`: the tool must not run, for the reason in `text`. `context` is for the model to read."""

    refused: bool = False
    text: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """One row of the table. `parse` takes a payload and what its event means, `render` the event's own name.

    `wait_most` is for how many seconds a hook may be held open within the client's default time limit.
    """

    events: Mapping[str, Event]
    parse: Callable[[Payload, Event], HookCall]
    render: Callable[[str, Answer], Body]
    wait_most: float


def events(**names: str) -> dict[str, Event]:
    """`events(pre_tool="PreToolUse", other="Stop Notification")` as a table by the client's own names."""
    return {name: Event(kind) for kind, listed in names.items() for name in listed.split()}


def mapping(value: Any) -> Payload:
    """The value, or nothing at all where it is no object."""
    return value if isinstance(value, Mapping) else {}


def first(data: Payload, *names: str) -> Any:
    """The value of the first name that is present and not null; None if there is none."""
    return next((data[name] for name in names if data.get(name) is not None), None)


def first_of(values: Any) -> Any:
    """The first of a list of folders."""
    return values[0] if isinstance(values, list) and values else None


def whole_text(path: Any, after: Any, before: Any = None) -> tuple[FileText, ...]:
    if not isinstance(path, str) or not isinstance(after, str):
        return ()
    return (FileText(path, after, before if isinstance(before, str) else None),)
