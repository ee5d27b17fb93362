"""Why a call was stopped, in words: the short line of the queue and the facts of the card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from controlplane.policy.model import Reason
from sessions.agent_titles import agent_title
from sessions.approvals.card.ownership import Owner
from sessions.approvals.card.subjects import paths_of
from sessions.models import Approval

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True, slots=True)
class Words:
    """`short` is for the queue; `rule` stands in bold on the card and `sentence` follows it."""

    short: str
    rule: str
    sentence: str


# {intent} the session's intent, {what} "this file" or "these files", {unknown} why the first part is unknown
WORDS: Mapping[str, Words] = {
    Reason.NOT_IN_SCOPE: Words("Outside {intent}", "Not in scope.", "No pattern of {intent} matches {what}."),
    Reason.EMPTY_SCOPE: Words("{intent} owns nothing", "Empty scope.", "{intent} owns no path yet."),
    Reason.PROTECTED_PATH: Words("Protected path", "Protected path,", "not named by the scope of {intent}."),
    Reason.UNKNOWN_TARGET: Words("Targets cannot be known", "Targets cannot be known:", "{unknown}."),
    Reason.NONE_SELECTED: Words(
        "No intent selected", "No intent selected.", "The session has not taken an intent."
    ),
    Reason.HASH_MISMATCH: Words("Stale", "Stale.", "{what_start} changed since the agent last read it."),
    Reason.HASH_REQUIRED: Words(
        "No content hash", "No content hash.", "The workspace asks for the hash of what is replaced."
    ),
    Reason.INTENTIGNORE: Words(
        "Kept out by .intentignore", "Kept out by .intentignore.", "A line there matches {what}."
    ),
}
INTENT_IGNORED = Words(
    "{intent} is switched off", "Intent switched off.", "A line of .intentignore names {intent}."
)
SCOPE = Words("Asks for a wider scope of {intent}", "A wider scope was asked for.", "{message}")
COMPLETION = Words(
    "Asks to complete {intent}", "Completion needs a person.", "The policy of this workspace says so."
)
OTHER = Words("{reason}", "Stopped:", "{message}")


@dataclass(frozen=True, slots=True)
class Why:
    rule: str
    sentence: str
    intent_revision: int | None
    policy_revision: int | None
    nearest: str
    nearest_note: str
    owner: str


def summary(approval: Approval) -> str:
    """One line: why it stopped, and how far it reaches. 0 queries."""
    return f"{_filled(_words(approval).short, approval)}; {approval.reach_why}"


def why_of(approval: Approval, owners: list[Owner]) -> Why:
    words = _words(approval)
    nearest = approval.call.get("nearest_pattern") or ""
    return Why(
        rule=words.rule,
        sentence=f"{_filled(words.sentence, approval)}{_besides(approval)}",
        intent_revision=approval.intent_revision or None,
        policy_revision=approval.workspace_revision or None,
        nearest=nearest,
        nearest_note=_parting(nearest, next(iter(paths_of(approval)), "")),
        owner="; ".join(owned_by(owner) for owner in owners[:3]),
    )


def _besides(approval: Approval) -> str:
    """The first objection names the rule; targets that cannot be known are told with it."""
    if approval.reason == Reason.UNKNOWN_TARGET or not approval.call.get("unknown"):
        return ""
    return f" Besides, not all of its targets can be known: {approval.call['unknown'][0]['why']}."


def owned_by(owner: Owner) -> str:
    """`INT-003 Billing owns src/billing/**, held by Codex now`."""
    held = f", held by {agent_title(owner.sessions[0].agent_name)} now" if owner.sessions else ""
    return f"{owner.intent_id} {owner.name} owns {owner.pattern}{held}"


def _words(approval: Approval) -> Words:
    if approval.kind == Approval.Kind.SCOPE:
        return SCOPE
    if approval.kind == Approval.Kind.COMPLETION:
        return COMPLETION
    if approval.error_type == "INTENT_IGNORED":
        return INTENT_IGNORED
    return WORDS.get(approval.reason, OTHER)


def _filled(form: str, approval: Approval) -> str:
    many = len(paths_of(approval)) > 1
    unknown = approval.call.get("unknown") or [{"why": "what this changes is not known"}]
    return form.format(
        intent=approval.intent_id or "the intent",
        what="these files" if many else "this file",
        what_start="One of the files" if many else "The file",
        unknown=unknown[0]["why"],
        message=approval.message,
        reason=approval.reason.replace("_", " "),
    )


def _parting(pattern: str, path: str) -> str:
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
