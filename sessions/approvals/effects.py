"""Render the effects of a call's parts for answers, the ledger and approvals."""

from __future__ import annotations

from collections.abc import Iterable

from controlplane.policy.effects import MAX_KIND_LENGTH, PartEffect
from controlplane.shared.masking import mask_text

MAX_EFFECTS = 100
_MAX_PART_LENGTH = 300


def render_effects(effects: Iterable[PartEffect]) -> list[dict[str, str | None]]:
    """Return effects as JSON: each once, at most `MAX_EFFECTS`, printable, bounded, secrets masked."""
    rows = {tuple(row.values()): row for row in map(_render_effect, effects)}
    return list(rows.values())[:MAX_EFFECTS]


def _render_effect(effect: PartEffect) -> dict[str, str | None]:
    return {
        "part": _to_visible(effect.part),
        "kind": effect.kind[:MAX_KIND_LENGTH] or None,
        "effect": effect.effect.value,
        "risk": effect.risk,
        "why": mask_text(effect.why),
    }


def _to_visible(text: str) -> str:
    """Return hostile text on one line: masked, escapes visible, cut."""
    masked = mask_text(text)
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in masked)
    return visible if len(visible) <= _MAX_PART_LENGTH else f"{visible[: _MAX_PART_LENGTH - 1]}…"
