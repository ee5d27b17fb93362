"""The values that the policy core takes and returns.

Decisions, error types, reasons and hints are the exact strings of the product's contract, because
clients compare them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from controlplane.policy.effects import DEFAULT_PERMISSIONS, CommandRule, Effect, PartEffect, Permission


class Verdict(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class ToolClass(StrEnum):
    SAFE = "SAFE"
    DESTRUCTIVE = "DESTRUCTIVE"
    HANDSHAKE = "HANDSHAKE"


class SessionState(StrEnum):
    REQUEST = "REQUEST"
    REASONING = "REASONING"
    ACTION = "ACTION"
    ENDED = "ENDED"


class IntentStatus(StrEnum):
    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    BLOCKED = "BLOCKED"
    COMPLETED = "COMPLETED"
    ABANDONED = "ABANDONED"


class Registry(StrEnum):
    """Whether the intents of a workspace can be relied upon."""

    OK = "ok"
    EMPTY = "empty"
    MISSING = "missing"
    CORRUPT = "corrupt"


class ErrorType(StrEnum):
    MISSING_OR_INVALID_INTENT = "MISSING_OR_INVALID_INTENT"
    SCOPE_VIOLATION = "SCOPE_VIOLATION"
    STALE_FILE = "STALE_FILE"
    INTENT_IGNORED = "INTENT_IGNORED"
    INTENTIGNORE_PATH_BLOCKED = "INTENTIGNORE_PATH_BLOCKED"
    INTENT_LOCKED = "INTENT_LOCKED"
    INTENT_CONFLICT = "INTENT_CONFLICT"
    SESSION_ENDED = "SESSION_ENDED"
    ORCHESTRATION_UNAVAILABLE = "ORCHESTRATION_UNAVAILABLE"
    CONSTRAINT_VIOLATION = "CONSTRAINT_VIOLATION"
    HOOK_BLOCKED = "HOOK_BLOCKED"


class Reason(StrEnum):
    """What exactly an `ErrorType` is about. A violated constraint gives its own type, as a plain string."""

    NONE_SELECTED = "none_selected"
    NOT_FOUND = "not_found"
    COMPLETED = "completed"
    ABANDONED = "abandoned"
    BLOCKED = "blocked"
    MISMATCH = "mismatch"
    NOT_IN_SCOPE = "not_in_scope"
    OUTSIDE_WORKSPACE = "outside_workspace"
    PROTECTED_PATH = "protected_path"
    UNKNOWN_TARGET = "unknown_target"
    EMPTY_SCOPE = "empty_scope"
    HASH_MISMATCH = "hash_mismatch"
    HASH_REQUIRED = "hash_required"
    INTENTIGNORE = "intentignore"
    ALREADY_SELECTED = "already_selected"
    HELD_BY_OTHER_SESSION = "held_by_other_session"
    DEPENDENCIES_UNMET = "dependencies_unmet"
    ENDED = "ended"
    FROZEN = "frozen"
    WRONG_ROOT = "wrong_root"
    STOPPED = "stopped"
    EMPTY = "empty"
    MISSING = "missing"
    CORRUPT = "corrupt"
    CHANGED_BY_OTHER_SESSION = "changed_by_other_session"
    OWNED_BY_OTHER_INTENT = "owned_by_other_intent"
    MUTATION_CLASS_REQUIRED = "mutation_class_required"
    INVALID_INPUT = "invalid_input"
    INVALID_PATH = "invalid_path"
    INTERNAL_ERROR = "internal_error"


ACTION_HINTS: Mapping[ErrorType, str] = {
    ErrorType.MISSING_OR_INVALID_INTENT: "select_active_intent",
    ErrorType.SCOPE_VIOLATION: "request_scope_expansion",
    ErrorType.STALE_FILE: "read_file",
    ErrorType.INTENT_IGNORED: "select_active_intent",
    ErrorType.INTENTIGNORE_PATH_BLOCKED: "request_scope_expansion",
    ErrorType.INTENT_LOCKED: "start_new_session",
    ErrorType.INTENT_CONFLICT: "select_active_intent",
    ErrorType.SESSION_ENDED: "start_new_session",
    ErrorType.ORCHESTRATION_UNAVAILABLE: "create_intent",
    ErrorType.CONSTRAINT_VIOLATION: "revise_change",
    ErrorType.HOOK_BLOCKED: "retry",
}

HANDSHAKE_TOOL = "select_active_intent"

DEFAULT_PROTECTED_PATHS = (
    ".git/**",
    "**/.git/**",
    ".intentignore",
    ".orchestration/**",
    ".claude/**",
    ".codex/**",
    ".gemini/**",
    ".cursor/**",
    ".roo/**",
    ".mcp.json",
    ".vscode/settings.json",
    ".husky/**",
)

DEFAULT_APPROVABLE = frozenset(
    {
        ErrorType.MISSING_OR_INVALID_INTENT,
        ErrorType.SCOPE_VIOLATION,
        ErrorType.INTENTIGNORE_PATH_BLOCKED,
        ErrorType.STALE_FILE,
        ErrorType.INTENT_IGNORED,
    }
)


@dataclass(frozen=True, slots=True)
class Place:
    """A folder outside the workspace that policy opens.

    `pattern` is a path glob in which `~` is the agent's home. `access`: read, or write (scratch space, which
    may be read too).
    """

    pattern: str
    access: str = "read"  # read | write


@dataclass(frozen=True, slots=True)
class Policy:
    """A workspace's policy; the defaults are the product's defaults (contract 4, policy keys)."""

    enforcement: str = "enforce"  # enforce | monitor | off
    when_unavailable: str = "deny_all"  # deny_all | deny_destructive
    reads_outside_workspace: str = "deny"  # deny | allow
    empty_scope: str = "deny"  # deny | allow
    shared_intents: str = "deny"  # deny | allow
    session_idle_minutes: int = 30
    completion: str = "human"  # agent | human
    require_mutation_class: bool = False
    require_content_hash: bool = False
    case_insensitive_paths: bool = False
    tool_classes: tuple[tuple[str, ToolClass], ...] = ()  # (name or glob of a tool, its class)
    safe_commands: tuple[str, ...] = ()
    effects: tuple[tuple[Effect, Permission], ...] = tuple(DEFAULT_PERMISSIONS.items())
    containment: str = "unknown"  # off | unknown: what would ask | all: each command that is not safe
    hosts: tuple[str, ...] = ()  # patterns of hosts that commands may read from
    places: tuple[Place, ...] = ()
    protected_paths: tuple[str, ...] = DEFAULT_PROTECTED_PATHS
    approvable: frozenset[ErrorType] = DEFAULT_APPROVABLE
    approval_timeout_minutes: int = 60
    conflicts: str = "allow"  # allow | ask | deny: what another agent changed, or another intent owns
    freeze_after_denials: int = 0  # different denied calls for one target; 0 = never

    def permission_for(self, effect: Effect) -> Permission:
        return next((permission for word, permission in self.effects if word is effect), Permission.ALLOW)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What an agent wants to do. `input` is hostile: any JSON value may stand in any field."""

    tool: str
    input: Any
    root: str | None = None  # absolute directory of the workspace on the agent's machine
    cwd: str | None = None  # absolute, or relative to root; None = root
    agent: str = ""  # "claude-code", "codex", …; chooses the table of tools
    call_id: str | None = None  # the client's tool_use_id
    current_content_hashes: Mapping[str, str] = field(default_factory=dict)
    # Symlinks on the agent's machine: the path of a link, or of what lies behind one, to its destination.
    links: Mapping[str, str] = field(default_factory=dict)
    can_contain: bool = False  # the client's word: it runs a command over a copy-on-write view
    prefers_containment: bool = False  # whoever sends it wants it so, also where policy does not
    client_program: str = ""  # absolute path of the installed hook client, by its own word


@dataclass(frozen=True, slots=True)
class SelectedIntent:
    """The selected intent as the gate needs it."""

    intent_id: str
    status: IntentStatus
    owned_scope: tuple[str, ...]
    revision: int = 1
    blocked_reason: str = ""
    constraints: tuple[Any, ...] = ()  # text, or a mapping with a `type` (machine-checked)
    allowed_commands: tuple[str, ...] = ()  # kinds


@dataclass(frozen=True, slots=True)
class Grant:
    """A live exception that an approval gave.

    `once` covers the call with this digest, one time (a retry under the same `used_by` call id too).
    `session` covers, until `expires_at`, the calls with this digest, and denials of the same error type whose
    offending paths all match `patterns`, and parts of other calls whose kind is one of `kinds`.
    """

    grant_id: str
    kind: str  # once | session
    error_type: ErrorType
    digest: str
    patterns: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    expires_at: datetime | None = None
    used_by: str | None = None
    used: bool = False


@dataclass(frozen=True, slots=True)
class RejectedPath:
    """A path that a reviewer has rejected in this session, whatever tool asks for it again.

    The agent is given `message`. `recursive` where all below the path was rejected as well.
    """

    path: str
    message: str
    recursive: bool = False


class OwnerLookup(Protocol):
    def find_owners(self, path: str, *, exclude: str | None) -> tuple[str, ...]:
        """Return the ids of the intents in progress that own a path, all but one."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything about the workspace and the session that a decision may depend on."""

    policy: Policy = field(default_factory=Policy)
    registry: Registry = Registry.OK
    state: SessionState = SessionState.REQUEST
    stopped: str = ""  # what an admin stopped and who did: nothing runs, whatever else would let it
    frozen: bool = False
    wrong_root: bool = False  # the session works in a directory that is not the workspace's
    selected_intent_id: str | None = None
    intent: SelectedIntent | None = None  # None although one is selected: it is gone
    intent_held_by_other: bool = False  # another session took it while this one was silent
    intentignore: str = ""
    ignore_files: tuple[str, ...] = ()  # the texts of the files on disk, which count beside it
    grants: tuple[Grant, ...] = ()
    rejected_paths: tuple[RejectedPath, ...] = ()
    command_rules: tuple[CommandRule, ...] = ()  # of the workspace
    # MCP tools whose server says whether they only read, as `mcp:server.tool`.
    read_only_hints: Mapping[str, bool] = field(default_factory=dict)
    owners: OwnerLookup | None = None  # of the intents in progress


@dataclass(frozen=True, slots=True)
class Target:
    """A path that a call would create, change, move or delete, or (op `read`) look at."""

    path: str  # canonical: workspace-relative, POSIX, no `.`/`..`, NFC
    op: str = "write"  # write | delete | move | link | folder (created) | mode | read
    recursive: bool = False  # everything below it as well
    physical: str | None = None  # where links lead, when that differs

    @property
    def physical_path(self) -> str:
        return self.path if self.physical is None else self.physical

    @property
    def names(self) -> tuple[str, ...]:
        """Both names of the target, the lexical one first; every check must pass for each."""
        return (self.path,) if self.physical is None else (self.path, self.physical)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part of a call whose targets cannot be known, and the reason. `text` is what the agent wrote."""

    text: str
    reason: str
    start: int | None = None  # offsets into the command, in code points
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A target that somebody else works on; `by` is the session that changed it, or the owning intent."""

    path: str
    reason: Reason
    by: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a decision, for the Explain page. `number` is the step of the contract, 1 to 10."""

    number: int
    name: str
    observed: str
    outcome: str  # pass | deny | allow | skip
    text: str = ""


@dataclass(frozen=True, slots=True)
class Denial:
    """A denial that a grant overrode."""

    error_type: ErrorType
    reason: str
    error: str
    offending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer of the core.

    `verdict` is what policy says. `offending` are the paths that caused a denial. `grant_id` names the
    grant that turned a denial into an allow, and `denial` is what it overrode. `digest` binds approvals
    to this exact call: tool, canonical input, directory, known hashes of the targets, intent revision;
    it is "" where the call broke no rule, because nothing has to be approved there. `effects` are those of
    every part of a command, and `refused` those of them that nobody has permitted.
    """

    verdict: Verdict
    tool_class: ToolClass
    error_type: ErrorType | None = None
    reason: str | None = None
    error: str | None = None
    targets: tuple[Target, ...] = ()
    reads: tuple[Target, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    offending: tuple[str, ...] = ()
    intent_id: str | None = None
    nearest_pattern: str | None = None
    grant_id: str | None = None
    denial: Denial | None = None
    conflicts: tuple[Conflict, ...] = ()
    effects: tuple[PartEffect, ...] = ()
    refused: tuple[PartEffect, ...] = ()
    contained: bool = False  # allowed, but only in a contained run
    digest: str = ""

    @property
    def action_hint(self) -> str | None:
        if self.reason == Reason.STOPPED:  # nothing that the agent could do
            return None
        return ACTION_HINTS[self.error_type] if self.error_type else None
