"""Kind and effect of tools that leave the machine: MCP, web, and tools that no table knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from controlplane.policy.effects import MAX_KIND_LENGTH, Effect, PartEffect
from controlplane.policy.hosts import find_host, is_listed
from controlplane.policy.paths.canonical import to_printable

WEB_TOOLS = frozenset(
    {
        "WebFetch",
        "WebSearch",
        "web_fetch",
        "google_web_search",
        "web_search",
        "fetch_webpage",
        "webfetch",
        "websearch",
    }
)
_MCP_NAME = re.compile(r"mcp__(.+?)__(.+)|mcp_([^_]+)_(.+)", re.DOTALL)


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Words that say that a tool only looks, unless another word of its name says that it changes something.
_READING_WORDS = _words(
    "get list search read find query view describe show lookup resolve count fetch explain snapshot"
)
_WRITING_WORDS = _words(
    "create update delete remove add set write edit put post send insert upsert patch save store upload",
    "push merge commit publish deploy run exec execute eval evaluate click type fill press drag navigate",
    "start stop restart kill install move rename copy archive close reopen assign comment reply react",
    "approve reject cancel schedule trigger invoke call apply import sync reset clear purge drop truncate",
    "grant revoke enable disable submit select hover handle resize mark transfer pay order book buy",
    "download export screenshot record generate render design replace append modify change mutate",
    "subscribe unsubscribe join leave invite ban lock unlock pin unpin fork transition mutation",
)
_GETTERS = _words("get list read describe show fetch")
_NOUNS = _words("screenshot record design order book transfer mark fork comment schedule post issue mutation")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OUTPUT = re.compile(r"out|dest|save|store|download|write|target|filename|to_?(?:path|file)$", re.IGNORECASE)
_STATEMENT_KEYS = frozenset(
    {"sql", "statement", "script", "code", "command", "mutation", "expression", "function"}
)
_STATEMENT = re.compile(
    r"\b(?:insert\s+into|delete\s+from|update\s+\S+\s+set|(?:drop|alter|create|truncate)\s+\w|mutation\b)",
    re.IGNORECASE,
)
_NOT_KNOWN = "the gate does not know all that this tool changes"
MAX_FIELDS = 200  # of an input
MAX_NAME = 400  # characters that are looked at


def describe_tool(name: str, data: Any, hints: Mapping[str, bool], hosts: tuple[str, ...] = ()) -> PartEffect:
    """Return kind and effect of a call of a tool that is no file tool and no shell."""
    if name in WEB_TOOLS:
        return _describe_web(name, data, hosts)
    match = _MCP_NAME.fullmatch(name)
    if match is None:
        return _part(name, f"tool:{name}", Effect.UNKNOWN, _NOT_KNOWN)
    server, tool = match[1] or match[3], match[2] or match[4]
    kind = f"mcp:{server}.{tool}"
    if kind in hints:
        return (
            _part(name, kind, Effect.FETCHES, "its server says that it only reads")
            if hints[kind]
            else _part(name, kind, Effect.SENDS, "its server says that it changes something")
        )
    effect, reason = _classify_name(tool)
    if effect is Effect.FETCHES and _holds_statement(data):
        effect, reason = Effect.UNKNOWN, "it gets a statement that may change something"
    return _part(name, kind, effect, reason)


def _part(name: str, kind: str, effect: Effect, reason: str) -> PartEffect:
    usable = kind.isprintable() and len(kind) <= MAX_KIND_LENGTH
    return PartEffect(to_printable(name), " ".join(kind.split()) if usable else "", effect, reason)


def _classify_name(tool: str) -> tuple[Effect, str]:
    words = [word.lower() for word in _WORD.findall(tool[:MAX_NAME])]
    # `get_screenshot` looks at one; `take_screenshot` may store it.
    nouns = _NOUNS if words[:1] and words[0] in _GETTERS else frozenset()
    writing = next((word for word in words if word in _WRITING_WORDS - nouns), None)
    if writing is not None:
        return Effect.SENDS, f"its name says that it changes something ({writing})"
    reading = next((word for word in words if word in _READING_WORDS), None)
    if reading is not None:
        return Effect.FETCHES, f"its name says that it only reads ({reading})"
    return Effect.UNKNOWN, _NOT_KNOWN


def _describe_web(name: str, data: Any, hosts: tuple[str, ...]) -> PartEffect:
    url = data.get("url") if isinstance(data, dict) else None
    host = find_host(url) if isinstance(url, str) else ""
    if host and is_listed(host, hosts):
        return _part(name, f"web:{name}", Effect.FETCHES, f"reads from {host}, which policy lists")
    return _part(name, f"web:{name}", Effect.BROWSES, f"reads from {host or 'the web'}")


def _holds_statement(data: Any) -> bool:
    """Return whether an input holds SQL or the like: a tool named `query` runs whatever it is given."""
    if not isinstance(data, dict):
        return False
    if len(data) > MAX_FIELDS:
        return True  # more than anybody looks at
    values = [str(value)[:MAX_NAME] for value in data.values()]
    is_named = any(str(key).lower() in _STATEMENT_KEYS for key in data)
    return is_named or any(_STATEMENT.search(value) for value in values)


def names_output(data: Any) -> bool:
    """Return whether an input may say where to store something."""
    return isinstance(data, dict) and any(_OUTPUT.search(str(key)[:MAX_NAME]) for key in data)
