"""Describe changes of the settings in plain words: auditors ask who got access, not which entry was added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """`verb` says what was done, `name` to which object, `note` adds details."""

    verb: str
    name: str = ""
    note: str = ""


def describe_settings_change(outcome: str, body: Body) -> SettingsChange:
    """Describe an entry of kind policy; by its outcome alone where the body is empty or missing."""
    action = outcome.removeprefix("anchor_").removeprefix("key_").replace("_", " ")
    if "archive" in body:
        verb = ARCHIVE_VERBS.get(outcome, f"Archive {action}")
        return SettingsChange(verb, _text(body, "archive"), _describe_archive(body))
    if body.get("what") == "stop":
        verb = STOP_VERBS.get(outcome, f"Emergency stop {action}")
        return SettingsChange(verb, _text(body, "subject") or "every agent", _text(body, "reason"))
    subject = body.get("what") or ("anchor" if "target" in body else "policy")
    noun, name, note = NOUNS.get(str(subject), (str(subject).capitalize(), "", _nothing))
    return SettingsChange(f"{noun} {action}".strip(), _text(body, name), note(body))


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _nothing(_: Body) -> str:
    return ""


def _describe_role(body: Body) -> str:
    return f"as {_text(body, 'role')}" if _text(body, "role") else ""


def _describe_outlet(body: Body) -> str:
    kinds = body.get("kinds") or ["all entries"]
    contents = ", with contents" if body.get("whole") else ""
    return f"{_text(body, 'form')}: {', '.join(map(str, kinds))}{contents}"


def _list_changed_keys(body: Body) -> str:
    """List the keys of the policy whose value changed."""
    before, after = body.get("before"), body.get("after")
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return ""
    return ", ".join(sorted(key for key in before | after if before.get(key) != after.get(key)))


def _describe_archive(body: Body) -> str:
    first, end, bodies = body.get("first"), body.get("end"), body.get("bodies")
    if not (isinstance(first, int) and isinstance(end, int)):
        return ""
    return f"entries {first:,} to {end - 1:,}, {bodies} bodies"


ARCHIVE_VERBS = {"archived": "Archived", "released": "Released the bodies of", "restored": "Restored"}
STOP_VERBS = {"stopped": "Stopped", "started": "Started again"}
NOUNS: dict[str, tuple[str, str, Callable[[Body], str]]] = {  # what, the name's key, what else
    "member": ("Member", "username", _describe_role),
    "token": ("Token", "name", _describe_role),
    "outlet": ("Outlet", "url", _describe_outlet),
    "anchor": ("Anchor", "target", lambda body: _text(body, "kind")),
    "intentignore": (".intentignore", "", _nothing),
    "rule": ("Command rule", "kind", lambda body: _text(body, "permission")),
    "mcp_tool": ("MCP tools", "server", lambda body: _text(body, "tool")),
    "policy": ("Policy", "", _list_changed_keys),
}
