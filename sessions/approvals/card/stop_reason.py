"""Explain why a call was held: one line for the queue, the details for the card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from controlplane.policy.globs.intentignore import IgnoreRules
from controlplane.policy.model import Reason
from controlplane.templatetags.names import agent_title
from sessions.approvals.card.ownership import PathOwner
from sessions.approvals.card.subjects import abbreviate, list_paths
from sessions.models import Approval

MAX_TARGET_LENGTH = 80  # of an unknown target that is named in a sentence


@dataclass(frozen=True, slots=True)
class ReasonText:
    """`short` is for the queue; on the card `rule` is bold and `sentence` follows it.

    Each may use these fields: intent, message, reason, paths ("src/a.ts and 2 more"), are ("is" or "are"),
    files ("this file" or "these files"), one_file ("The file" or "One of the files"), target and unknown
    (the text of the first unknown part and why it is unknown).
    """

    short: str
    rule: str
    sentence: str


REASON_TEXTS: Mapping[str, ReasonText] = {
    Reason.NOT_IN_SCOPE: ReasonText("Outside {intent}", "Not in scope.", "{paths} {are} outside {intent}."),
    Reason.EMPTY_SCOPE: ReasonText("Empty scope of {intent}", "Empty scope.", "{intent} owns no paths yet."),
    Reason.PROTECTED_PATH: ReasonText(
        "Protected path", "Protected path.", "The scope of {intent} does not name {files} explicitly."
    ),
    Reason.UNKNOWN_TARGET: ReasonText("Unknown target: {target}", "Unknown target:", "{target} ({unknown})."),
    Reason.NONE_SELECTED: ReasonText(
        "No intent selected", "No intent selected.", "The session has not selected an intent."
    ),
    Reason.HASH_MISMATCH: ReasonText("Stale", "Stale.", "{one_file} changed since the agent last read it."),
    Reason.HASH_REQUIRED: ReasonText(
        "No content hash", "No content hash.", "Workspace policy: replacing content needs its current hash."
    ),
    Reason.INTENTIGNORE: ReasonText(
        "Ignored by .intentignore", "Ignored by .intentignore.", "One of its lines matches {files}."
    ),
}
INTENT_IGNORED = ReasonText(
    "{intent} is disabled", "Intent disabled.", "A line of .intentignore names {intent}."
)
SCOPE_REQUEST = ReasonText("Requests a wider scope of {intent}", "Wider scope requested.", "{message}")
COMPLETION = ReasonText(
    "Requests completion of {intent}", "Workspace policy:", "a person confirms completion."
)
RUN = ReasonText("Held after the run: {paths}", "Held after the run.", "")
# Reasons that say enough of a file that a run changed; the others go by the message.
ABOUT_FILES = (
    Reason.NOT_IN_SCOPE, Reason.EMPTY_SCOPE, Reason.PROTECTED_PATH, Reason.HASH_MISMATCH, Reason.INTENTIGNORE,
)  # fmt: skip
OTHER_REASON = ReasonText("{reason}", "Held:", "{message}")


@dataclass(frozen=True, slots=True)
class StopReason:
    rule: str
    sentence: str
    intent_revision: int | None
    policy_revision: int | None
    nearest: str
    nearest_note: str
    owner: str
    more: tuple[tuple[str, str], ...] = ()  # further rules with their sentences, of the files of a run


def summarize(approval: Approval) -> str:
    """Return one line: why the call was held, and how far it reaches. 0 queries."""
    short = _fill(_get_reason_text(approval).short, approval)
    # Its reach says "unknown targets" only, which would repeat the reason.
    return short if approval.reason == Reason.UNKNOWN_TARGET else f"{short}; {approval.reach_why}"


def explain_stop(approval: Approval, owners: list[PathOwner]) -> StopReason:
    if approval.kind == Approval.Kind.RUN:
        return _explain_run(approval, owners)
    text = _get_reason_text(approval)
    nearest = approval.call.get("nearest_pattern") or ""
    sentence = _describe_ignore_line(approval) or _fill(text.sentence, approval)
    return StopReason(
        rule=text.rule,
        sentence=f"{sentence}{_describe_unknown(approval)}",
        intent_revision=approval.intent_revision or None,
        policy_revision=approval.workspace_revision or None,
        nearest=nearest,
        nearest_note=_describe_difference(nearest, next(iter(list_paths(approval)), "")),
        owner="; ".join(describe_owner(owner) for owner in owners[:3]),
    )


def _explain_run(approval: Approval, owners: list[PathOwner]) -> StopReason:
    """Return each rule that holds files of a run, with these files."""
    by_rule: dict[str, list[str]] = {}
    for file in approval.call.get("files", ()):
        by_rule.setdefault(_get_file_text(file).rule, []).append(file["path"])
    (rule, sentence), *more = [(rule, f"{abbreviate(paths)}.") for rule, paths in by_rule.items()] or [
        (RUN.rule, "")
    ]
    return StopReason(
        rule=rule,
        sentence=sentence,
        intent_revision=approval.intent_revision or None,
        policy_revision=approval.workspace_revision or None,
        nearest="",
        nearest_note="",
        owner="; ".join(describe_owner(owner) for owner in owners[:3]),
        more=tuple(more),
    )


def explain_held_file(approval: Approval, file: Mapping[str, str]) -> str:
    """Return why one file of a run waits, e.g. `docs/a.md is outside INT-001.`"""
    text = _get_file_text(file)
    return file.get("why") or "" if text is OTHER_REASON else _fill(text.sentence, approval, [file["path"]])


def _get_file_text(file: Mapping[str, str]) -> ReasonText:
    reason = file.get("reason", "")
    return REASON_TEXTS[reason] if reason in ABOUT_FILES else OTHER_REASON


def _describe_ignore_line(approval: Approval) -> str:
    """Return which line of `.intentignore` matches, as it is now; "" where none does any more."""
    if approval.reason != Reason.INTENTIGNORE or approval.error_type == "INTENT_IGNORED":
        return ""
    text = approval.workspace.intentignore
    for path in list_paths(approval):
        line = IgnoreRules.parse(text).find_rule(path)
        if line is not None:
            number = next((n for n, each in enumerate(text.split("\n"), 1) if each.rstrip("\r") == line), 0)
            return f"Line {number} of it matches {path}: {line}" if number else ""
    return ""


def _describe_unknown(approval: Approval) -> str:
    """Return a sentence on unknown targets where another reason, checked first, names the rule."""
    if approval.reason == Reason.UNKNOWN_TARGET or not approval.call.get("unknown"):
        return ""
    return f" It also has unknown targets: {approval.call['unknown'][0]['why']}."


def describe_owner(owner: PathOwner) -> str:
    """Return e.g. `INT-003 Billing owns src/billing/**, held by Codex now`."""
    holder = f", held by {agent_title(owner.sessions[0].agent_name)} now" if owner.sessions else ""
    return f"{owner.intent_id} {owner.name} owns {owner.pattern}{holder}"


def _get_reason_text(approval: Approval) -> ReasonText:
    if approval.kind == Approval.Kind.SCOPE:
        return SCOPE_REQUEST
    if approval.kind == Approval.Kind.COMPLETION:
        return COMPLETION
    if approval.kind == Approval.Kind.RUN:
        return RUN
    if approval.error_type == "INTENT_IGNORED":
        return INTENT_IGNORED
    return REASON_TEXTS.get(approval.reason, OTHER_REASON)


def _fill(template: str, approval: Approval, paths: list[str] | None = None) -> str:
    paths = list_paths(approval) if paths is None else paths
    is_plural = len(paths) > 1
    unknown: Mapping[str, str] = next(iter(approval.call.get("unknown") or ()), {})
    target = " ".join((unknown.get("text") or approval.tool).split())
    return template.format(
        intent=approval.intent_id or "the intent",
        paths=abbreviate(paths) or "The call",
        are="are" if is_plural else "is",
        files="these files" if is_plural else "this file",
        one_file="One of the files" if is_plural else "The file",
        target=target if len(target) <= MAX_TARGET_LENGTH else f"{target[:MAX_TARGET_LENGTH]}…",
        unknown=unknown.get("why", "its effect is unknown"),
        message=approval.message,
        reason=approval.reason.replace("_", " "),
    )


def _describe_difference(pattern: str, path: str) -> str:
    """Name the first segment of the path that differs from the closest pattern."""
    if not pattern or not path:
        return ""
    if pattern.startswith("!"):
        return "excludes it"
    for expected, actual in zip_longest(pattern.split("/"), path.split("/"), fillvalue=""):
        if expected != actual:
            return f"differs at {actual}" if actual else f"the path ends before {expected}"
    return ""
