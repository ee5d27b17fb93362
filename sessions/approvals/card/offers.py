"""Describe the answers a reviewer can give: the kinds of grant, and texts for a rejection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from intents.known_files import KnownFiles
from intents.scope_effects import ScopeEffect, find_scope_effect
from sessions.approvals.card.ownership import Ownership, PathOwner
from sessions.approvals.card.previews.scope_and_completion import build_addition
from sessions.approvals.card.subjects import is_read
from sessions.approvals.grants import find_grant_obstacle, list_default_patterns
from sessions.approvals.kinds.command_kinds import suggest_approval_kinds
from sessions.approvals.kinds.plans import is_for_reading, is_plan, list_requested
from sessions.approvals.triage.dangers import SECRETS_DANGER, find_dangers
from sessions.models import Approval

GRANT_MINUTES = 30
BUTTONS: Mapping[str, str] = {
    "once": "Approve once",
    "session": "Approve for the session",
    "minutes": f"Approve for {GRANT_MINUTES} min",
    "intent": "Approve for the intent",
    "workspace": "Make it a rule",
    "scope": "Widen the scope",
}
NOUNS: Mapping[str, str] = {
    "shell": "command",
    "edit": "edit",
    "stale": "edit",
    "delete": "deletion",
    "read": "read",
}


@dataclass(frozen=True, slots=True)
class GrantOffer:
    value: str  # once | session | minutes | intent | workspace | scope
    label: str
    button: str
    effect: str
    pattern: str = ""
    detail: str = ""
    files: tuple[str, ...] = ()
    more: int = 0
    warning: str = ""
    enabled: bool = True
    disabled_reason: str = ""
    checked: bool = False


@dataclass(frozen=True, slots=True)
class OfferInputs:
    """What the offers are worded from.

    `kind` is the subject's; `known_files` is None where no wider scope is on offer.
    """

    approval: Approval
    kind: str
    scope: tuple[str, ...]
    version: int  # of the intent now
    known_files: KnownFiles | None
    ownership: Ownership

    @property
    def noun(self) -> str:
        return NOUNS.get(self.kind, "call")


def list_offers(inputs: OfferInputs, chosen: str = "", *, is_admin: bool = False) -> list[GrantOffer]:
    """Return every kind of grant, impossible ones disabled with the reason; exactly one is checked."""
    if inputs.approval.kind == Approval.Kind.COMPLETION:
        return [_offer_completion(inputs)]
    if inputs.approval.kind == Approval.Kind.SCOPE:
        return _list_plan_offers(inputs, chosen)
    if inputs.approval.kind == Approval.Kind.RUN:
        return [_offer_run()]
    builders: dict[str, Callable[..., GrantOffer]] = {
        "once": _offer_once,
        "session": _offer_until_session_end,
        "minutes": _offer_for_minutes,
        **(KIND_BUILDERS if suggest_approval_kinds(inputs.approval) else {}),
        "scope": _offer_scope,
    }
    default = "session" if suggest_approval_kinds(inputs.approval) else "once"
    obstacles = {value: _find_obstacle(inputs.approval, value) for value in builders}
    if not is_admin and "workspace" in builders:
        obstacles["workspace"] = "Only an admin can make a rule for the workspace."
    chosen = chosen if chosen in builders and not obstacles[chosen] else default
    return [
        _build_disabled(value, reason)
        if (reason := obstacles[value])
        else make(inputs, checked=value == chosen)
        for value, make in builders.items()
    ]


def _find_obstacle(approval: Approval, value: str) -> str | None:
    return find_grant_obstacle(approval, "session" if value == "minutes" else value)


def _build_disabled(value: str, reason: str) -> GrantOffer:
    return GrantOffer(value, LABELS[value], BUTTONS[value], "", enabled=False, disabled_reason=reason)


LABELS: Mapping[str, str] = {
    "session": "Until the session ends",
    "minutes": f"For {GRANT_MINUTES} minutes",
    "intent": "Until the intent closes",
    "workspace": "Always, in this workspace",
    "scope": "Widen the scope",
}


def _describe_unchanged_intent(inputs: OfferInputs) -> str:
    approval = inputs.approval
    return (
        f" {approval.intent_id} stays at revision {inputs.version}."
        if approval.intent_id and inputs.version
        else ""
    )


def _offer_once(inputs: OfferInputs, *, checked: bool) -> GrantOffer:
    noun = inputs.noun
    return GrantOffer(
        "once",
        f"This {noun} once",
        BUTTONS["once"],
        f"This exact {noun} runs once, recorded as an override.{_describe_unchanged_intent(inputs)}",
        detail=f"Exactly this {noun}. A changed one needs a new approval.",
        checked=checked,
    )


def _offer_run() -> GrantOffer:
    effect = (
        "What is ticked lands on its own, each file only if it is still what the command found. What is not "
        "ticked is thrown away."
    )
    detail = "This change of the ticked files. The command does not run again."
    return GrantOffer("once", "These bytes once", "Approve", effect, detail=detail, checked=True)


def _offer_for_session(inputs: OfferInputs, value: str, until: str, *, checked: bool) -> GrantOffer:
    kinds = suggest_approval_kinds(inputs.approval)
    if kinds:
        return _offer_kinds(inputs, value, until, checked=checked)
    patterns = list_default_patterns(inputs.approval)
    if patterns:
        effect = f"Calls of this session held for the same reason on these paths run without asking {until}."
        detail = f"by this session, {until}"
    else:
        effect = f"This exact {inputs.noun} runs without asking again {until}."
        detail = f"Exactly this {inputs.noun}, any number of times, {until}"
    return GrantOffer(
        value,
        LABELS[value],
        BUTTONS[value],
        effect + _describe_unchanged_intent(inputs),
        ", ".join(patterns),
        detail,
        warning=_warn_of_secrets(inputs.approval),
        checked=checked,
    )


def _warn_of_secrets(approval: Approval) -> str:
    has_secrets = SECRETS_DANGER in find_dangers(approval.call)
    return "It holds secrets: the agent may read or change it again unseen" if has_secrets else ""


def _offer_until_session_end(inputs: OfferInputs, *, checked: bool) -> GrantOffer:
    return _offer_for_session(inputs, "session", "until the session ends", checked=checked)


def _offer_for_minutes(inputs: OfferInputs, *, checked: bool) -> GrantOffer:
    return _offer_for_session(inputs, "minutes", f"for {GRANT_MINUTES} minutes", checked=checked)


def _offer_kinds(inputs: OfferInputs, value: str, until: str, *, checked: bool) -> GrantOffer:
    kinds = ", ".join(suggest_approval_kinds(inputs.approval))
    return GrantOffer(
        value,
        LABELS[value],
        BUTTONS[value],
        f"{kinds} runs without asking {until}, with other arguments too. Dangerous forms still ask, and files"
        f" outside the scope stay closed.{_describe_unchanged_intent(inputs)}",
        kinds,
        f"with any harmless arguments, {until}",
        checked=checked,
    )


def _offer_until_intent_closes(inputs: OfferInputs, *, checked: bool) -> GrantOffer:
    until = f"in every session of {inputs.approval.intent_id} until it closes"
    return _offer_kinds(inputs, "intent", until, checked=checked)


def _offer_rule(inputs: OfferInputs, *, checked: bool) -> GrantOffer:
    return _offer_kinds(inputs, "workspace", "in every session, until the rule is revoked", checked=checked)


KIND_BUILDERS = {"intent": _offer_until_intent_closes, "workspace": _offer_rule}


def _list_plan_offers(inputs: OfferInputs, chosen: str) -> list[GrantOffer]:
    """Return how long a plan may hold: with its intent (the default), with the session, or for some time."""
    approval = inputs.approval
    values = (["scope"] if approval.intent_id else []) + ["session", "minutes"]
    chosen = chosen if chosen in values else values[0]
    if approval.intent_id and not is_plan(approval):
        return [_offer_scope(inputs, checked=True)]
    return [_offer_plan(inputs, value, checked=value == chosen) for value in values]


def _offer_plan(inputs: OfferInputs, value: str, *, checked: bool) -> GrantOffer:
    approval = inputs.approval
    patterns, kinds = list_requested(approval)
    subject = ", ".join((*patterns, *kinds))
    if value == "scope":
        if is_for_reading(approval):
            effect = f"Every session of {approval.intent_id} may read {subject} until the intent closes."
        else:
            effect = f"{approval.intent_id} gets {subject} as revision {inputs.version + 1}."
        return GrantOffer(value, LABELS["intent"], "Approve plan", effect, subject, checked=checked)
    until = "until the session ends" if value == "session" else f"for {GRANT_MINUTES} minutes"
    effect = f"This session alone gets {subject} {until}.{_describe_unchanged_intent(inputs)}"
    return GrantOffer(value, LABELS[value], "Approve plan", effect, subject, checked=checked)


def _offer_scope(inputs: OfferInputs, *, checked: bool) -> GrantOffer:
    approval = inputs.approval
    patterns = list_default_patterns(approval)
    effect = _find_effect(inputs, patterns)
    files = list(effect.added)
    next_version = inputs.version + 1
    addition = build_addition(", ".join(patterns), files)
    return GrantOffer(
        "scope",
        LABELS["scope"],
        BUTTONS["scope"],
        f"{approval.intent_id} also owns {addition.pattern} from revision {next_version}, "
        "permanent until edited.",
        addition.pattern,
        f"Added to {approval.intent_id} as revision {next_version}. Allows {_describe_count(len(files))}",
        addition.files,
        addition.more,
        _warn_of_overlap(effect),
        checked=checked,
    )


def _describe_count(count: int) -> str:
    if not count:
        return "no known file yet."
    return f"{count} known file{'' if count == 1 else 's'}:"


def _find_effect(inputs: OfferInputs, patterns: tuple[str, ...]) -> ScopeEffect:
    if inputs.known_files is None:
        return ScopeEffect((), (), ())
    others = [intent for intent in inputs.ownership.intents if intent.intent_id != inputs.approval.intent_id]
    return find_scope_effect((*inputs.scope, *patterns), inputs.scope, inputs.known_files, others)


def _warn_of_overlap(effect: ScopeEffect) -> str:
    if not effect.overlaps:
        return ""
    ids = ", ".join(overlap.id for overlap in effect.overlaps[:5])
    return f"Overlaps {ids}: {'1 file' if len(effect.added) == 1 else 'some files'} would have two owners"


def _offer_completion(inputs: OfferInputs) -> GrantOffer:
    intent_id = inputs.approval.intent_id
    effect = (
        f"{intent_id} becomes COMPLETED, which is final. Its session can make no further changes under it."
    )
    claimed = len(inputs.approval.call.get("acceptance_evidence", ()))
    if claimed:
        effect += f" You confirm the evidence for {claimed} criteri{'on' if claimed == 1 else 'a'}."
    return GrantOffer(
        "once", "Complete it", f"Complete {intent_id}", effect, detail="COMPLETED is final.", checked=True
    )


# --- the other answer ---------------------------------------------------------------------------


def describe_rejection_effect(approval: Approval) -> str:
    if approval.kind == Approval.Kind.SCOPE:
        return f"The scope of {approval.intent_id} stays as it is. The agent receives your note."
    if approval.kind == Approval.Kind.COMPLETION:
        return f"{approval.intent_id} stays in progress. The agent receives your note."
    if approval.kind == Approval.Kind.RUN:
        landed = len(approval.call.get("landed", ()))
        rest = f" The {landed} that landed stay." if landed else ""
        return f"None of these changes reaches the workspace.{rest} The agent receives your note."
    effect = "It is not read." if is_read(approval) else "Nothing is written."
    return f"{effect} The agent is told not to retry and receives your note."


def list_rejection_presets(kind: str, owners: list[PathOwner]) -> list[str]:
    """Return texts for a rejection, addressed to the agent, the most fitting one first."""
    not_yours = (
        f"Not yours: leave this file to {owners[0].intent_id}."
        if owners
        else "Not yours: stay inside your scope."
    )
    return [text or not_yours for text in PRESETS.get(kind, (None, ASK_FIRST, SPLIT, WAIT))]


ASK_FIRST, SPLIT, WAIT = "Ask for the scope first.", "Too much at once: split it.", "Stop, and wait for me."
PRESETS: Mapping[str, tuple[str | None, ...]] = {  # None: that the file is not the agent's
    "completion": ("Show evidence for each criterion first.", "Not done: read the criteria again.", WAIT),
    "shell": ("Split the command and name its targets.", None, ASK_FIRST, WAIT),
    "run": (None, "Run it so that it leaves these files alone.", ASK_FIRST, WAIT),
    "scope": ("Too wide: ask for the files you need.", None, SPLIT, WAIT),
    "read": ("Work without this file.", "Ask me for the value that you need.", WAIT),
    "stale": ("Read the file again, then propose the change again.", None, SPLIT, WAIT),
}
