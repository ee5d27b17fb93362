"""The texts of denials: what was wrong, and what the agent can do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from controlplane.policy.effects import Effect, PartEffect
from controlplane.policy.model import ErrorType, Reason
from controlplane.policy.paths.canonical import to_printable

MUST_CITE = "You must cite a valid active Intent ID."
_NEW_SESSION = "A session keeps its intent for life: start a new session and call select_active_intent there."
_MAX_PATHS = 20
_MAX_PARTS = 5

_NOT_AUTHORIZED = "Scope Violation: {intent} is not authorized to edit [{paths}]."

TEXTS: Mapping[tuple[ErrorType, str], str] = {
    (ErrorType.MISSING_OR_INVALID_INTENT, Reason.NONE_SELECTED): (
        MUST_CITE + " Call select_active_intent with the id of the intent that this work belongs to,"
        " then send this call again."
    ),
    (ErrorType.MISSING_OR_INVALID_INTENT, Reason.NOT_FOUND): (
        MUST_CITE + " {intent} is no longer in the registry. " + _NEW_SESSION
    ),
    (ErrorType.MISSING_OR_INVALID_INTENT, Reason.COMPLETED): (
        MUST_CITE + " {intent} is completed and takes no more changes. " + _NEW_SESSION
    ),
    (ErrorType.MISSING_OR_INVALID_INTENT, Reason.ABANDONED): (
        MUST_CITE + " {intent} was abandoned. " + _NEW_SESSION
    ),
    (ErrorType.MISSING_OR_INVALID_INTENT, Reason.BLOCKED): (
        MUST_CITE + " {intent} is blocked{detail}. Wait until its owner unblocks it, or start a new session"
        " and call select_active_intent with another intent."
    ),
    (ErrorType.MISSING_OR_INVALID_INTENT, Reason.MISMATCH): (
        MUST_CITE + " This call cites [{detail}], but the session works on {intent}. Cite {intent}, or leave"
        " intent_id out."
    ),
    (ErrorType.INTENT_CONFLICT, Reason.HELD_BY_OTHER_SESSION): (
        "{intent} was taken by another session while this one was silent. Wait until that session releases"
        " it, or start a new session and call select_active_intent with another intent."
    ),
    (ErrorType.INTENT_IGNORED, Reason.INTENTIGNORE): (
        "{intent} is excluded by an `intent:` line of .intentignore. Call select_active_intent with another"
        " intent in a new session, or ask a person to remove that line."
    ),
    (ErrorType.SCOPE_VIOLATION, Reason.NOT_IN_SCOPE): _NOT_AUTHORIZED + " Request scope expansion.",
    (ErrorType.SCOPE_VIOLATION, Reason.EMPTY_SCOPE): (
        _NOT_AUTHORIZED + " Its owned scope is empty. Request scope expansion."
    ),
    (ErrorType.SCOPE_VIOLATION, Reason.PROTECTED_PATH): (
        _NOT_AUTHORIZED
        + " The path is protected: only a pattern that names it exactly, without wildcards, allows it."
        " Leave it as it is, or request scope expansion with this exact path."
    ),
    (ErrorType.SCOPE_VIOLATION, Reason.OUTSIDE_WORKSPACE): (
        "Scope Violation: [{paths}] is outside the workspace. Use a path inside the workspace."
    ),
    (ErrorType.SCOPE_VIOLATION, Reason.UNKNOWN_TARGET): (
        "Scope Violation: unknown target: {detail}. Do it with a file tool or a"
        " plainer command that names its files, or wait for a person to approve it."
    ),
    (ErrorType.INTENTIGNORE_PATH_BLOCKED, Reason.INTENTIGNORE): (
        "[{paths}] is ignored by .intentignore. Work without it, or request scope expansion and wait for a"
        " person."
    ),
    (ErrorType.STALE_FILE, Reason.HASH_MISMATCH): (
        "Stale File: [{paths}] has changed or is gone since it was read. Re-read it with read_file and try"
        " again with the new content hash."
    ),
    (ErrorType.STALE_FILE, Reason.HASH_REQUIRED): (
        "Stale File: a change of [{paths}] must carry expected_content_hash. Read the file with read_file and"
        " send its hash."
    ),
    (ErrorType.STALE_FILE, Reason.CHANGED_BY_OTHER_SESSION): (
        "Stale File: [{paths}] was changed by another session ({detail}) since you looked at it. Re-read it"
        " with read_file, then decide again what to change."
    ),
    (ErrorType.INTENT_CONFLICT, Reason.OWNED_BY_OTHER_INTENT): (
        "[{paths}] is also owned by {detail}, which is in progress. Leave it to that intent, or wait for a"
        " person to approve it."
    ),
    (ErrorType.SESSION_ENDED, Reason.ENDED): "This session has ended. Start a new session to continue.",
    (ErrorType.SESSION_ENDED, Reason.FROZEN): (
        "This session is frozen: a person must review it first. Stop, or start a new session."
    ),
    (ErrorType.SESSION_ENDED, Reason.STOPPED): (
        "{detail} Every call is denied until an admin starts it again. Stop working and tell the user."
    ),
    (ErrorType.SESSION_ENDED, Reason.WRONG_ROOT): (
        "This session works in a directory that is not a work tree of the workspace's repository. Start a new"
        " session in the repository, or with the token of the workspace that the directory belongs to."
    ),
    (ErrorType.ORCHESTRATION_UNAVAILABLE, Reason.EMPTY): (
        "This workspace has no intents yet, so nothing can be done in it. Create one on the Intents page,"
        " with POST /api/v1/intents, or by importing an active_intents.yaml; then call select_active_intent."
    ),
    (ErrorType.ORCHESTRATION_UNAVAILABLE, Reason.MISSING): (
        "The intent registry (.orchestration/active_intents.yaml) is missing. Ask a person to restore it, or"
        " to create intents on the Intents page."
    ),
    (ErrorType.ORCHESTRATION_UNAVAILABLE, Reason.CORRUPT): (
        "The intent registry (.orchestration/active_intents.yaml) cannot be read. Ask a person to repair it;"
        " the import report says which line is wrong."
    ),
    (ErrorType.HOOK_BLOCKED, Reason.INVALID_INPUT): (
        "{detail} Send the call again with input as the tool describes it."
    ),
    (ErrorType.HOOK_BLOCKED, Reason.INVALID_PATH): "{detail}",
    (ErrorType.HOOK_BLOCKED, Reason.MUTATION_CLASS_REQUIRED): (
        "write_to_file must include mutation_class: AST_REFACTOR when meaning stays the same,"
        " INTENT_EVOLUTION when it changes. Send the call again with it."
    ),
    (ErrorType.HOOK_BLOCKED, Reason.INTERNAL_ERROR): (
        "The gate failed while it checked this call, so the call is denied. Send it again; if it fails again,"
        " tell whoever runs the gate."
    ),
}


def render_effects(parts: Sequence[PartEffect], *, is_final: bool) -> str:
    """Return the text of a denial of effects: each part, what it does, and a way that exists."""
    shown = parts[:_MAX_PARTS]
    detail = "; ".join(f"{part.why} [{to_printable(part.part)}]" for part in shown)
    if all(part.effect is Effect.UNKNOWN for part in shown):
        text = f"Scope Violation: unknown target: {detail}."
    else:
        effects = ", ".join(dict.fromkeys(part.effect.value for part in shown))
        text = f"Scope Violation: {detail}. Effect: {effects}."
    if is_final:
        return f"{text} Policy denies that here, and nobody can approve it. Continue without it."
    ways = dict.fromkeys(_WAYS[part.effect] for part in shown)
    return f"{text} {' '.join(ways)}"


# A way that exists for each effect, as the agent is told it.
_ASK = "A person decides: wait for the approval, or continue with other work."
_WAYS: Mapping[Effect, str] = {
    **dict.fromkeys(Effect, _ASK),
    Effect.UNKNOWN: (
        "Do it with a file tool or a plainer command that names its files, or wait for a person to approve"
        " it."
    ),
    Effect.RUNS_PROJECT: (
        "It runs code of the workspace: wait for a person to approve it; the approval may cover the kind."
    ),
    Effect.RECORDS: (
        "It changes git's own files: wait for a person to approve it; the approval may cover the whole kind."
    ),
    Effect.DISCARDS: (
        "Work that is not committed may be lost: commit or stash it first, or wait for a person to approve."
    ),
    Effect.BROWSES: "Use a host that policy lists, or wait for a person to approve it.",
}


def render_rejected_again(error: str, message: str) -> str:
    """Return the text of a denial that a reviewer gave before, in the reviewer's own words."""
    return f"{error}\n{message} Do not retry."


def append_scope(error: str, intent: str, patterns: Sequence[str], owners: Sequence[str]) -> str:
    """Return a denial of paths out of scope with what the intent may edit, and the intents that own them."""
    more = f", and {len(patterns) - _MAX_PATHS} more" if len(patterns) > _MAX_PATHS else ""
    text = f"{error} {intent} may edit [{', '.join(patterns[:_MAX_PATHS])}{more}]."
    if not owners:
        return text
    listed = ", ".join(owners[:_MAX_PATHS])
    return f"{text} Owned by {listed}: work on it belongs there, in a session of its own."


def render(
    code: tuple[ErrorType, str], *, intent: str | None = None, paths: Sequence[str] = (), detail: str = ""
) -> str:
    """Return the text of a denial. Paths are separated by commas; of more than 20 the rest is counted."""
    path_list = ", ".join(paths[:_MAX_PATHS])
    if len(paths) > _MAX_PATHS:
        path_list += f", and {len(paths) - _MAX_PATHS} more"
    return TEXTS[code].format(intent=intent or "The session", paths=path_list, detail=detail)
