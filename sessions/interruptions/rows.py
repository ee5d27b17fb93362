"""Rows of the page of interruptions: kinds that ask, and rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from intents.models import WorkspaceRule
from sessions.interruptions.chart import build_spark
from sessions.interruptions.figures import KindFigures, to_milliseconds
from sessions.interruptions.proposals import RuleProposal

RECEIPT = timedelta(minutes=10)  # for so long a rule that was taken back stays in sight
UNUSED = timedelta(days=14)

EFFECT_LABELS: Mapping[str, str | Promise] = {
    "reads": _("Reads"),
    "writes": _("Writes"),
    "runs_project": _("Runs the project"),
    "runs_code": _("Runs code"),
    "records": _("Records in git"),
    "discards": _("Discards"),
    "fetches": _("Fetches"),
    "browses": _("Browses"),
    "installs": _("Installs"),
    "sends": _("Sends"),
    "machine": _("Machine"),
    "unknown": _("Unknown"),
}
REASON_LABELS: Mapping[str, str | Promise] = {
    "": _("A part that has no kind"),
    "not_in_scope": _("A path outside the scope"),
    "protected_path": _("A protected path"),
    "intentignore": _("A path of .intentignore"),
    "unknown_target": _("A command with unknown targets"),
    "none_selected": _("A change without an intent"),
    "hash_mismatch": _("A file that had changed"),
    "hash_required": _("A write without a content hash"),
    "empty_scope": _("An intent without scope"),
}


def label_kind(kind: str) -> str:
    return str(REASON_LABELS.get(kind, kind))


def label_effect(effect: str) -> str:
    return str(EFFECT_LABELS.get(effect, effect))


@dataclass(frozen=True, slots=True)
class KindRow:
    """One kind that asks. `spared` and `why_not` come from the proposal, where there is one."""

    kind: str
    label: str
    effect: str
    asks: int
    spark: str
    median_seconds: float | None
    approved: int
    rejected: int
    people: int
    spared: int | None
    is_offered: bool
    why_not: str

    @property
    def median_milliseconds(self) -> int | None:
        return to_milliseconds(self.median_seconds)

    @property
    def decided(self) -> int:
        return self.approved + self.rejected


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule in force, or one that was taken back a moment ago."""

    id: str
    number: int
    kind: str
    permission: str
    owner: str
    created_at: datetime
    uses: int
    last_used_at: datetime | None
    learned_from: str
    removed_by: str
    is_unused: bool


def build_kind_row(figures: KindFigures, proposal: RuleProposal | None) -> KindRow:
    return KindRow(
        kind=figures.kind,
        label=label_kind(figures.kind),
        effect=label_effect(figures.effect),
        asks=figures.asks,
        spark=build_spark(figures.by_day),
        median_seconds=figures.median_seconds,
        approved=figures.approved,
        rejected=figures.rejected,
        people=figures.people,
        spared=proposal.spared if proposal else None,
        is_offered=proposal is not None and proposal.is_offered,
        why_not=proposal.obstacle if proposal else "",
    )


def list_rule_rows(workspace_id: int) -> list[RuleRow]:
    """Return the live rules and receipts of those that were just taken back, newest first. 1 query."""
    now = timezone.now()
    recent = Q(removed_at=None) | Q(removed_at__gt=now - RECEIPT)
    rules = WorkspaceRule.objects.for_workspace(workspace_id).filter(recent).order_by("-number")
    return [_build_rule_row(rule, now) for rule in rules]


def _build_rule_row(rule: WorkspaceRule, now: datetime) -> RuleRow:
    learned, last = rule.learned_from, rule.last_used_at or rule.created_at
    users = learned.get("people", ())
    return RuleRow(
        id=rule.public_id,
        number=rule.number,
        kind=rule.kind,
        permission=rule.permission,
        owner=rule.owner,
        created_at=rule.created_at,
        uses=rule.uses,
        last_used_at=rule.last_used_at,
        learned_from=f"{learned['approved']} by {len(users)} people" if learned.get("approved") else "",
        removed_by=rule.removed_by,
        is_unused=now - last > UNUSED,
    )
