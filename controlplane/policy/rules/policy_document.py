"""Parse and build policy documents, the mapping that REST and the settings page exchange.

A document may leave keys out: they keep the product's defaults. An unknown key, a wrong type or a value
that would open a hole is rejected, with what is allowed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any

from controlplane.policy.calls.toolsets import MUTATING_NAMES
from controlplane.policy.calls.toolsets.icp import ICP
from controlplane.policy.effects import DEFAULT_PERMISSIONS, Effect, Permission
from controlplane.policy.globs import parse as globs
from controlplane.policy.hosts import find_host_problem
from controlplane.policy.model import DEFAULT_APPROVABLE, ErrorType, Place, Policy, ToolClass
from controlplane.policy.rules.places import find_place_problem

MAX_ENTRIES = 500
MAX_PATTERN = 512  # characters
MAX_MINUTES = 60 * 24 * 365
MAX_DENIALS = 1000

# What a workspace may declare approvable. Other denials say that something is wrong with the call, the
# session or the registry, which no approval fixes.
APPROVABLE_TYPES = DEFAULT_APPROVABLE | {ErrorType.CONSTRAINT_VIOLATION}

_HANDSHAKE_TOOLS = frozenset(name for name, tool in ICP.items() if tool.kind == "handshake")


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """What is wrong with one key of a document, and what is allowed."""

    key: str
    message: str
    allowed: str


class InvalidPolicyError(ValueError):
    """A document that is no valid policy; `problems` lists all that is wrong with it."""

    def __init__(self, problems: tuple[PolicyProblem, ...]) -> None:
        super().__init__("; ".join(f"{p.key}: {p.message} Allowed: {p.allowed}" for p in problems))
        self.problems = problems


def parse(document: Any) -> Policy:
    """Return the policy that a document describes. Raise `InvalidPolicyError` with every problem at once."""
    errors = find_problems(document)
    if errors:
        raise InvalidPolicyError(errors)
    return Policy(**{key: _KEYS[key].to_value(value) for key, value in document.items()})


def find_problems(document: Any) -> tuple[PolicyProblem, ...]:
    if not isinstance(document, Mapping):
        return (PolicyProblem("policy", "It must be a JSON object.", ", ".join(_KEYS)),)
    errors = []
    for key, value in document.items():
        rule = _KEYS.get(key)
        if rule is None:
            errors.append(PolicyProblem(str(key), "This key is not known.", ", ".join(_KEYS)))
        elif (message := rule.find_problem(value)) is not None:
            errors.append(PolicyProblem(key, message, rule.allowed))
    return tuple(errors)


def to_document(policy: Policy) -> dict[str, Any]:
    """Return every key with its value, as JSON; `parse(to_document(policy)) == policy`."""
    return {field.name: _as_json(getattr(policy, field.name), field.name) for field in fields(policy)}


def _as_json(value: Any, key: str) -> Any:
    if key in {"tool_classes", "effects"}:
        return {str(name): word.value for name, word in value}
    if key == "places":
        return [{"pattern": place.pattern, "access": place.access} for place in value]
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


# --- what a key may hold -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _KeyRule:
    """`find_problem` returns why a value is rejected, or None; `to_value` converts it for `Policy`."""

    allowed: str
    find_problem: Callable[[Any], str | None]
    to_value: Callable[[Any], Any] = lambda value: value


def _choice(*values: str) -> _KeyRule:
    def find_problem(value: Any) -> str | None:
        return None if isinstance(value, str) and value in values else f"{value!r} is not a valid value."

    return _KeyRule(" | ".join(values), find_problem)


def _integer(minimum: int, maximum: int, unit: str) -> _KeyRule:
    def find_problem(value: Any) -> str | None:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return (
            None
            if is_integer and minimum <= value <= maximum
            else f"{value!r} is not a whole number in this range."
        )

    return _KeyRule(f"a whole number {unit}from {minimum} to {maximum}", find_problem)


def _minutes() -> _KeyRule:
    return _integer(1, MAX_MINUTES, "of minutes ")


def _boolean() -> _KeyRule:
    return _KeyRule("true | false", lambda v: None if isinstance(v, bool) else f"{v!r} is not a boolean.")


def _list_rule(find_item_problem: Callable[[str], str | None], allowed: str) -> _KeyRule:
    def find_problem(value: Any) -> str | None:
        if not isinstance(value, list) or len(value) > MAX_ENTRIES:
            return f"It must be a list of at most {MAX_ENTRIES} strings."
        if not all(isinstance(item, str) for item in value):
            return "It must hold strings only."
        return next(filter(None, map(find_item_problem, value)), None)

    return _KeyRule(allowed, find_problem, tuple)


def _find_glob_problem(pattern: str) -> str | None:
    problem = globs.find_problem(pattern)
    return problem.message if problem else None


def _find_command_problem(pattern: str) -> str | None:
    if not pattern.strip() or len(pattern) > MAX_PATTERN or not pattern.isprintable():
        return f"{pattern!r} is not a command pattern."
    return f"{pattern!r} would make every command safe." if not pattern.strip("* ?") else None


def _find_approvable_problem(error_type: str) -> str | None:
    return None if error_type in APPROVABLE_TYPES else f"{error_type!r} cannot be approved."


def _find_tool_classes_problem(value: Any) -> str | None:
    if not isinstance(value, Mapping) or len(value) > MAX_ENTRIES:
        return f"It must be an object of at most {MAX_ENTRIES} entries."
    return next(filter(None, (_find_tool_class_problem(name, word) for name, word in value.items())), None)


def _find_tool_class_problem(name: Any, tool_class: Any) -> str | None:
    if not isinstance(name, str) or not name or len(name) > MAX_PATTERN:
        return f"{name!r} is not the name of a tool."
    if not isinstance(tool_class, str) or tool_class not in {"SAFE", "DESTRUCTIVE"}:
        return f"{name}: {tool_class!r} is not a class."
    if any(fnmatchcase(handshake, name) for handshake in _HANDSHAKE_TOOLS):
        return f"{name}: the class of the handshake cannot change."
    mutating = sorted(known for known in MUTATING_NAMES if known == name or fnmatchcase(known, name))
    if tool_class == "SAFE" and mutating:
        return f"{name}: {mutating[0]} changes files or runs commands and can't be made safe."
    return None


_TOOL_CLASSES = _KeyRule(
    "{name or glob of a tool: SAFE | DESTRUCTIVE}; a known file or shell tool can't be made safe",
    _find_tool_classes_problem,
    lambda value: tuple((name, ToolClass(word)) for name, word in value.items()),
)


def _find_effects_problem(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "It must be an object."
    for effect, permission in value.items():
        if effect not in DEFAULT_PERMISSIONS:
            return f"{effect!r} is not an effect that a policy decides about."
        if not isinstance(permission, str) or permission not in list(Permission):
            return f"{effect}: {permission!r} is not a permission."
    return None


def _to_effects(value: Mapping[str, str]) -> tuple[tuple[Effect, Permission], ...]:
    """Return every effect with its permission: those that are left out keep the product's defaults."""
    return tuple(
        (effect, Permission(value.get(effect, default))) for effect, default in DEFAULT_PERMISSIONS.items()
    )


_EFFECTS = _KeyRule(
    f"{{{' | '.join(DEFAULT_PERMISSIONS)}: {' | '.join(Permission)}}}; reads and writes go by path",
    _find_effects_problem,
    _to_effects,
)


def _find_places_problem(value: Any) -> str | None:
    if not isinstance(value, list) or len(value) > MAX_ENTRIES:
        return f"It must be a list of at most {MAX_ENTRIES} places."
    return next(filter(None, map(find_place_problem, value)), None)


_PLACES = _KeyRule(
    '[{"pattern": "/tmp/**", "access": "read" | "write"}]; folders outside the workspace without credentials',
    _find_places_problem,
    lambda value: tuple(Place(place["pattern"], place.get("access", "read")) for place in value),
)

_KEYS: Mapping[str, _KeyRule] = {
    "enforcement": _choice("enforce", "monitor", "off"),
    "when_unavailable": _choice("deny_all", "deny_destructive"),
    "reads_outside_workspace": _choice("deny", "allow"),
    "empty_scope": _choice("deny", "allow"),
    "shared_intents": _choice("deny", "allow"),
    "session_idle_minutes": _minutes(),
    "completion": _choice("agent", "human"),
    "require_mutation_class": _boolean(),
    "require_content_hash": _boolean(),
    "case_insensitive_paths": _boolean(),
    "tool_classes": _TOOL_CLASSES,
    "safe_commands": _list_rule(
        _find_command_problem, "a list of command patterns, like `npm test` or `pytest *`"
    ),
    "effects": _EFFECTS,
    "containment": _choice("off", "unknown", "all"),
    "hosts": _list_rule(find_host_problem, "a list of host names, like `github.com` or `*.example.org`"),
    "places": _PLACES,
    "protected_paths": _list_rule(_find_glob_problem, "a list of globs, relative to the workspace"),
    "approvable": _KeyRule(
        ", ".join(sorted(APPROVABLE_TYPES)),
        _list_rule(_find_approvable_problem, "").find_problem,
        lambda value: frozenset(ErrorType(word) for word in value),
    ),
    "approval_timeout_minutes": _minutes(),
    "conflicts": _choice("allow", "ask", "deny"),
    "freeze_after_denials": _integer(0, MAX_DENIALS, "(0: never) "),
}
