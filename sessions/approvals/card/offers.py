"""The answers that a reviewer can give: how far an approval may reach, and what to tell the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intents.known_files import KnownFiles
from sessions.approvals.card.ownership import Owner, Ownership
from sessions.approvals.card.previews.requests import added
from sessions.approvals.grants import default_patterns, refusal
from sessions.models import Approval

MINUTES = 30
BUTTONS: Mapping[str, str] = {
    "once": "Approve once",
    "session": "Approve for the session",
    "minutes": f"Approve for {MINUTES} min",
    "scope": "Widen the scope",
}
NOUNS: Mapping[str, str] = {"shell": "command", "edit": "edit", "stale": "edit", "delete": "deletion"}


@dataclass(frozen=True, slots=True)
class Offer:
    value: str  # once | session | minutes | scope
    label: str
    button: str
    effect: str
    pattern: str = ""
    detail: str = ""
    files: tuple[str, ...] = ()
    more: int = 0
    warning: str = ""
    enabled: bool = True
    why_disabled: str = ""
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """What the offers are worded from. `kind` is the subject's; `known` is None where no file is listed."""

    approval: Approval
    kind: str
    scope: tuple[str, ...]
    version: int  # of the intent now
    known: KnownFiles | None
    ownership: Ownership

    @property
    def noun(self) -> str:
        return NOUNS.get(self.kind, "call")


def offers_for(ground: Ground, chosen: str = "") -> list[Offer]:
    """Every grant, refused ones disabled with the reason; exactly one is checked."""
    if ground.approval.kind == Approval.Kind.COMPLETION:
        return [_completion(ground)]
    if ground.approval.kind == Approval.Kind.SCOPE:
        return [_scope(ground, checked=True)]
    makers = {"once": _once, "session": _session, "minutes": _minutes, "scope": _scope}
    why_not = {value: _refused(ground.approval, value) for value in makers}
    chosen = chosen if chosen in makers and not why_not[chosen] else "once"
    return [
        _disabled(value, why) if (why := why_not[value]) else make(ground, checked=value == chosen)
        for value, make in makers.items()
    ]


def _refused(approval: Approval, value: str) -> str | None:
    return refusal(approval, "session" if value == "minutes" else value)


def _disabled(value: str, why: str) -> Offer:
    return Offer(value, LABELS[value], BUTTONS[value], "", enabled=False, why_disabled=why)


LABELS: Mapping[str, str] = {
    "session": "Until the session ends",
    "minutes": f"For {MINUTES} minutes",
    "scope": "Widen the scope",
}


def _stays(ground: Ground) -> str:
    approval = ground.approval
    return (
        f" {approval.intent_id} stays at revision {ground.version}."
        if approval.intent_id and ground.version
        else ""
    )


def _once(ground: Ground, *, checked: bool) -> Offer:
    noun = ground.noun
    return Offer(
        "once",
        f"This {noun} once",
        BUTTONS["once"],
        f"This exact {noun} runs once, recorded as an override.{_stays(ground)}",
        detail=f"This very {noun} as it stands here. A changed one asks again.",
        checked=checked,
    )


def _lasting(ground: Ground, value: str, until: str, *, checked: bool) -> Offer:
    patterns = default_patterns(ground.approval)
    if patterns:
        effect = (
            f"Calls of this session stopped for the same reason run without asking, {until}, on these paths."
        )
        detail = f"by this session, {until}"
    else:
        effect = f"This exact {ground.noun} runs without asking again, {until}."
        detail = f"This very {ground.noun}, as often as it comes, {until}"
    return Offer(
        value,
        LABELS[value],
        BUTTONS[value],
        effect + _stays(ground),
        ", ".join(patterns),
        detail,
        checked=checked,
    )


def _session(ground: Ground, *, checked: bool) -> Offer:
    return _lasting(ground, "session", "until the session ends", checked=checked)


def _minutes(ground: Ground, *, checked: bool) -> Offer:
    return _lasting(ground, "minutes", f"for {MINUTES} minutes", checked=checked)


def _scope(ground: Ground, *, checked: bool) -> Offer:
    approval = ground.approval
    patterns = default_patterns(approval)
    files = ground.known.added_by(patterns, ground.scope) if ground.known else []
    listed = added(", ".join(patterns), files)
    others = ground.ownership.owners(files, but=approval.intent_id) if files else []
    return Offer(
        "scope",
        LABELS["scope"],
        BUTTONS["scope"],
        f"{approval.intent_id} owns {listed.pattern} as well, from revision {ground.version + 1} on, "
        "until somebody takes it back.",
        listed.pattern,
        f"added to {approval.intent_id} as revision {ground.version + 1}. Lets through {_known(len(files))}",
        listed.files,
        listed.more,
        _shared(others),
        checked=checked,
    )


def _known(count: int) -> str:
    if not count:
        return "no known file yet."
    return f"{count} known file{'' if count == 1 else 's'}:"


def _shared(others: list[Owner]) -> str:
    if not others:
        return ""
    return f"Some would be owned by two intents: {', '.join(owner.intent_id for owner in others[:5])} too"


def _completion(ground: Ground) -> Offer:
    intent_id = ground.approval.intent_id
    effect = f"{intent_id} becomes COMPLETED, which is final. The session can change nothing more under it."
    return Offer(
        "once", "Complete it", f"Complete {intent_id}", effect, detail="COMPLETED is final.", checked=True
    )


# --- the other answer ---------------------------------------------------------------------------


def reject_effect(approval: Approval) -> str:
    if approval.kind == Approval.Kind.SCOPE:
        return f"The scope of {approval.intent_id} stays as it is. The agent gets your note."
    if approval.kind == Approval.Kind.COMPLETION:
        return f"{approval.intent_id} stays in progress. The agent gets your note."
    return "Nothing is written. The agent is told not to retry and gets your note."


def presets(kind: str, owners: list[Owner]) -> list[str]:
    """Rejection texts: instructions for the agent, the most fitting first."""
    if kind == "completion":
        return [
            "Show evidence for each criterion first.",
            "Not done: read the criteria again.",
            "Stop, and wait for me.",
        ]
    yours = (
        f"Not yours: leave this file to {owners[0].intent_id}."
        if owners
        else "Not yours: stay inside your scope."
    )
    split, wait = "Too much at once: split it.", "Stop, and wait for me."
    if kind == "shell":
        return ["Split the command and name its targets.", yours, "Ask for the scope first.", wait]
    if kind == "scope":
        return ["Too wide: ask for the files you need.", yours, split, wait]
    if kind == "stale":
        return ["Read the file again, then propose the change anew.", yours, split, wait]
    return [yours, "Ask for the scope first.", split, wait]
