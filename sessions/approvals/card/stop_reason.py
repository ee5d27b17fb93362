"""Why a call was stopped, in words: the short line of the queue and the facts of the card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from controlplane.policy.model import Reason
from sessions.agent_titles import agent_title
from sessions.approvals.card.ownership import PathOwner
from sessions.approvals.card.subjects import list_paths
from sessions.models import Approval

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True, slots=True)
class ReasonText:
    """`short` is for the queue; `rule` stands in bold on the card and `sentence` follows it."""

    short: str
    rule: str
    sentence: str


# {intent} the session's intent, {what} "this file" or "these files", {unknown} why the first part is unknown
REASON_TEXTS: Mapping[str, ReasonText] = {
    Reason.NOT_IN_SCOPE: ReasonText(
        "Outside {intent}", "Not in scope.", "No pattern of {intent} matches {what}."
    ),
    Reason.EMPTY_SCOPE: ReasonText("{intent} owns nothing", "Empty scope.", "{intent} owns no path yet."),
    Reason.PROTECTED_PATH: ReasonText(
        "Protected path", "Protected path,", "not named by the scope of {intent}."
    ),
    Reason.UNKNOWN_TARGET: ReasonText("Targets cannot be known", "Targets cannot be known:", "{unknown}."),
    Reason.NONE_SELECTED: ReasonText(
        "No intent selected", "No intent selected.", "The session has not taken an intent."
    ),
    Reason.HASH_MISMATCH: ReasonText("Stale", "Stale.", "{what_start} changed since the agent last read it."),
    Reason.HASH_REQUIRED: ReasonText(
        "No content hash", "No content hash.", "The workspace asks for the hash of what is replaced."
    ),
    Reason.INTENTIGNORE: ReasonText(
        "Kept out by .intentignore", "Kept out by .intentignore.", "A line there matches {what}."
    ),
}
INTENT_IGNORED = ReasonText(
    "{intent} is switched off", "Intent switched off.", "A line of .intentignore names {intent}."
)
SCOPE_REQUEST = ReasonText("Asks for a wider scope of {intent}", "A wider scope was asked for.", "{message}")
COMPLETION = ReasonText(
    "Asks to complete {intent}", "Completion needs a person.", "The policy of this workspace says so."
)
OTHER_REASON = ReasonText("{reason}", "Stopped:", "{message}")


@dataclass(frozen=True, slots=True)
class StopReason:
    rule: str
    sentence: str
    intent_revision: int | None
    policy_revision: int | None
    nearest: str
    nearest_note: str
    owner: str


def summarize(approval: Approval) -> str:
    """One line: why it stopped, and how far it reaches. 0 queries."""
    return f"{_fill(_get_reason_text(approval).short, approval)}; {approval.reach_why}"


def explain_stop(approval: Approval, owners: list[PathOwner]) -> StopReason:
    text = _get_reason_text(approval)
    nearest = approval.call.get("nearest_pattern") or ""
    return StopReason(
        rule=text.rule,
        sentence=f"{_fill(text.sentence, approval)}{_describe_unknown(approval)}",
        intent_revision=approval.intent_revision or None,
        policy_revision=approval.workspace_revision or None,
        nearest=nearest,
        nearest_note=_describe_difference(nearest, next(iter(list_paths(approval)), "")),
        owner="; ".join(describe_owner(owner) for owner in owners[:3]),
    )


def _describe_unknown(approval: Approval) -> str:
    """The first objection names the rule; targets that cannot be known are told with it."""
    if approval.reason == Reason.UNKNOWN_TARGET or not approval.call.get("unknown"):
        return ""
    return f" Besides, not all of its targets can be known: {approval.call['unknown'][0]['why']}."


def describe_owner(owner: PathOwner) -> str:
    """`INT-003 Billing owns src/billing/**, held by Codex now`."""
    holder = f", held by {agent_title(owner.sessions[0].agent_name)} now" if owner.sessions else ""
    return f"{owner.intent_id} {owner.name} owns {owner.pattern}{holder}"


def _get_reason_text(approval: Approval) -> ReasonText:
    if approval.kind == Approval.Kind.SCOPE:
        return SCOPE_REQUEST
    if approval.kind == Approval.Kind.COMPLETION:
        return COMPLETION
    if approval.error_type == "INTENT_IGNORED":
        return INTENT_IGNORED
    return REASON_TEXTS.get(approval.reason, OTHER_REASON)


def _fill(template: str, approval: Approval) -> str:
    is_plural = len(list_paths(approval)) > 1
    unknown = approval.call.get("unknown") or [{"why": "what this changes is not known"}]
    return template.format(
        intent=approval.intent_id or "the intent",
        what="these files" if is_plural else "this file",
        what_start="One of the files" if is_plural else "The file",
        unknown=unknown[0]["why"],
        message=approval.message,
        reason=approval.reason.replace("_", " "),
    )


def _describe_difference(pattern: str, path: str) -> str:
    """Where the nearest pattern and the path part, segment by segment."""
    if not pattern or not path:
        return ""
    if pattern.startswith("!"):
        return "excludes it"
    pairs = list(zip_longest(pattern.split("/"), path.split("/"), fillvalue=""))
    for number, (wanted, found) in enumerate(pairs[: len(ORDINALS)]):
        if wanted == found:
            continue
        if any(char in wanted for char in "*?[{") or not wanted or not found:
            return f"parts at the {ORDINALS[number]} segment"
        return f"parts at the {ORDINALS[number]} segment: {found} is not {wanted}"
    return ""
