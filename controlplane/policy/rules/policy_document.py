"""Policy documents: the mapping that REST and the settings page exchange, to a `Policy` and back.

A document may leave keys out: they keep the product's defaults. Nothing is guessed: an unknown key, a
wrong type or a value that would open a hole is refused, with what is allowed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any

from controlplane.policy.calls.toolsets import MUTATING_NAMES
from controlplane.policy.calls.toolsets.icp import ICP
from controlplane.policy.globs import parse as globs
from controlplane.policy.model import DEFAULT_APPROVABLE, ErrorType, Policy, ToolClass

MAX_ENTRIES = 500
MAX_PATTERN = 512  # characters
MAX_MINUTES = 60 * 24 * 365
MAX_DENIALS = 1000

# What a person may ever approve. Other denials say that something is wrong with the call, the session or
# the registry, which no approval mends.
APPROVABLE_TYPES = DEFAULT_APPROVABLE | {ErrorType.CONSTRAINT_VIOLATION}

_HANDSHAKES = frozenset(name for name, tool in ICP.items() if tool.kind == "handshake")


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """What is wrong with one key of a document, and what may stand there."""

    key: str
    message: str
    allowed: str


class InvalidPolicyError(ValueError):
    """A document that is no policy; `problems` names every fault of it."""

    def __init__(self, problems: tuple[PolicyProblem, ...]) -> None:
        super().__init__("; ".join(f"{p.key}: {p.message} Allowed: {p.allowed}" for p in problems))
        self.problems = problems


def parse(document: Any) -> Policy:
    """The policy that a document describes. Raises `InvalidPolicyError` with every problem at once."""
    found = find_problems(document)
    if found:
        raise InvalidPolicyError(found)
    return Policy(**{key: _KEYS[key].value(value) for key, value in document.items()})


def find_problems(document: Any) -> tuple[PolicyProblem, ...]:
    if not isinstance(document, Mapping):
        return (PolicyProblem("policy", "It must be a JSON object.", ", ".join(_KEYS)),)
    found = []
    for key, value in document.items():
        rule = _KEYS.get(key)
        if rule is None:
            found.append(PolicyProblem(str(key), "This key is not known.", ", ".join(_KEYS)))
        elif (message := rule.wrong(value)) is not None:
            found.append(PolicyProblem(key, message, rule.allowed))
    return tuple(found)


def to_document(policy: Policy) -> dict[str, Any]:
    """Every key with its value, as JSON; `parse(to_document(p)) == p`."""
    return {field.name: _as_json(getattr(policy, field.name), field.name) for field in fields(policy)}


def _as_json(value: Any, key: str) -> Any:
    if key == "tool_classes":
        return {name: cls.value for name, cls in value}
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


# --- what may stand under a key ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    """`wrong` says why a value may not stand there, or None; `value` makes the policy's own of it."""

    allowed: str
    wrong: Callable[[Any], str | None]
    value: Callable[[Any], Any] = lambda value: value


def _choice(*words: str) -> _Rule:
    def wrong(value: Any) -> str | None:
        return None if isinstance(value, str) and value in words else f"{value!r} is not a valid value."

    return _Rule(" | ".join(words), wrong)


def _whole(least: int, most: int, what: str) -> _Rule:
    def wrong(value: Any) -> str | None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return None if whole and least <= value <= most else f"{value!r} is not a whole number in this range."

    return _Rule(f"a whole number {what}from {least} to {most}", wrong)


def _minutes() -> _Rule:
    return _whole(1, MAX_MINUTES, "of minutes ")


def _switch() -> _Rule:
    return _Rule("true | false", lambda v: None if isinstance(v, bool) else f"{v!r} is not a boolean.")


def _listed(wrong_item: Callable[[str], str | None], allowed: str) -> _Rule:
    def wrong(value: Any) -> str | None:
        if not isinstance(value, list) or len(value) > MAX_ENTRIES:
            return f"It must be a list of at most {MAX_ENTRIES} strings."
        if not all(isinstance(item, str) for item in value):
            return "It must hold strings only."
        return next(filter(None, map(wrong_item, value)), None)

    return _Rule(allowed, wrong, tuple)


def _wrong_glob(pattern: str) -> str | None:
    found = globs.find_problem(pattern)
    return found.message if found else None


def _wrong_command(pattern: str) -> str | None:
    if not pattern.strip() or len(pattern) > MAX_PATTERN or not pattern.isprintable():
        return f"{pattern!r} is not a command pattern."
    return f"{pattern!r} would make every command safe." if not pattern.strip("* ?") else None


def _wrong_approvable(word: str) -> str | None:
    return None if word in APPROVABLE_TYPES else f"{word!r} cannot be approved."


def _wrong_classes(value: Any) -> str | None:
    if not isinstance(value, Mapping) or len(value) > MAX_ENTRIES:
        return f"It must be an object of at most {MAX_ENTRIES} entries."
    return next(filter(None, (_wrong_class(name, word) for name, word in value.items())), None)


def _wrong_class(name: Any, word: Any) -> str | None:
    if not isinstance(name, str) or not name or len(name) > MAX_PATTERN:
        return f"{name!r} is not the name of a tool."
    if not isinstance(word, str) or word not in {"SAFE", "DESTRUCTIVE"}:
        return f"{name}: {word!r} is not a class."
    if any(fnmatchcase(handshake, name) for handshake in _HANDSHAKES):
        return f"{name}: the class of the handshake cannot change."
    held = sorted(known for known in MUTATING_NAMES if known == name or fnmatchcase(known, name))
    if word == "SAFE" and held:
        return f"{name}: {held[0]} changes files or runs commands and can't be made safe."
    return None


_CLASSES = _Rule(
    "{name or glob of a tool: SAFE | DESTRUCTIVE}; a known file or shell tool can't be made safe",
    _wrong_classes,
    lambda value: tuple((name, ToolClass(word)) for name, word in value.items()),
)

_KEYS: Mapping[str, _Rule] = {
    "enforcement": _choice("enforce", "monitor", "off"),
    "when_unavailable": _choice("deny_all", "deny_destructive"),
    "reads_outside_workspace": _choice("deny", "allow"),
    "empty_scope": _choice("deny", "allow"),
    "shared_intents": _choice("deny", "allow"),
    "session_idle_minutes": _minutes(),
    "completion": _choice("agent", "human"),
    "require_mutation_class": _switch(),
    "require_content_hash": _switch(),
    "case_insensitive_paths": _switch(),
    "tool_classes": _CLASSES,
    "safe_commands": _listed(_wrong_command, "a list of command patterns, like `npm test` or `pytest *`"),
    "protected_paths": _listed(_wrong_glob, "a list of globs, relative to the workspace"),
    "approvable": _Rule(
        ", ".join(sorted(APPROVABLE_TYPES)),
        _listed(_wrong_approvable, "").wrong,
        lambda value: frozenset(ErrorType(word) for word in value),
    ),
    "approval_timeout_minutes": _minutes(),
    "conflicts": _choice("allow", "ask", "deny"),
    "freeze_after_denials": _whole(0, MAX_DENIALS, "(0: never) "),
}
