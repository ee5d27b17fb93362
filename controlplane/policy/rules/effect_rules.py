"""Who permits the effects of a call's parts: intent, rules of the workspace, policy (contract 7).

`deny` beats everything; then the nearest one decides. Grants are nearest of all, and are weighed in step 9.
"""

from __future__ import annotations

from collections.abc import Iterable

from controlplane.policy.effects import Effect, PartEffect, Permission
from controlplane.policy.model import Grant, Snapshot

# Known paths are checked one by one.
_BY_PATH = frozenset({Effect.READS, Effect.WRITES})


def find_permission(effect: PartEffect, snapshot: Snapshot) -> Permission:
    """Return what intent, workspace and policy say to one effect of a part; grants are not asked."""
    if effect.effect in _BY_PATH:
        return Permission.ALLOW
    general = snapshot.policy.permission_for(effect.effect)
    rules = [rule.permission for rule in snapshot.command_rules if rule.kind == effect.kind != ""]
    if Permission.DENY in (general, *rules):
        return Permission.DENY
    if effect.is_listed:
        return Permission.ALLOW
    intent = snapshot.intent
    if intent is not None and effect.kind and effect.kind in intent.allowed_commands:
        return Permission.ALLOW
    if rules:
        return min(rules, key=_STRICTEST_FIRST.index)
    return general


_STRICTEST_FIRST = (Permission.DENY, Permission.ASK, Permission.CONTAIN, Permission.ALLOW)


def find_refused(effects: Iterable[PartEffect], snapshot: Snapshot) -> list[tuple[PartEffect, Permission]]:
    """Return the effects that are not allowed, with what is said to them.

    `contain` is not allowed here: a call that no client contains asks.
    """
    found = ((effect, find_permission(effect, snapshot)) for effect in effects)
    return [(effect, permission) for effect, permission in found if permission is not Permission.ALLOW]


def grants_cover(denied: Iterable[PartEffect], grants: Iterable[Grant]) -> bool:
    """Return whether the kinds of these grants together cover all refused parts."""
    kinds = {kind for grant in grants for kind in grant.kinds}
    return all(effect.kind != "" and effect.kind in kinds for effect in denied)
