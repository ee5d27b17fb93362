"""Content hashes: reading what a caller claims, and finding what is true now (step 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from controlplane.policy.model import Target, ToolCall
from controlplane.policy.paths.canonical import CanonicalPath, canonicalize
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.resolve import ResolvedTarget, names_of

_HASH = re.compile(r"sha256:[0-9a-fA-F]{64}")

_HASHED = frozenset({"write", "delete", "move"})


def normal_hash(value: Any) -> str | None:
    """`sha256:` and 64 lower-case hex digits, or None for anything else."""
    return value.lower() if isinstance(value, str) and _HASH.fullmatch(value) else None


def current_hash(target: Target, call: ToolCall, world: Filesystem) -> str | None:
    """The hash of a target's bytes now; "" when it is known to be gone, None when nobody knows.

    What the caller says comes first (an unsaved buffer of an editor), then the disk, then the ledger.
    """
    if call.current_content_hashes:
        told = _told(target, call)
        if told is not None:
            return told
    return world.content_hash(_physical(target))


def _told(target: Target, call: ToolCall) -> str | None:
    hashes: Mapping[str, Any] = call.current_content_hashes
    for name in names_of(target):
        if name in hashes:
            return _as_hash(hashes[name])
    for spelling, value in hashes.items():
        where = canonicalize(spelling, root=call.root, cwd=call.cwd, writing=False)
        if isinstance(where, CanonicalPath) and where.path in names_of(target):
            return _as_hash(value)
    return None


def _as_hash(value: Any) -> str:
    """What is no hash equals none: it counts as another content, never as the expected one."""
    return normal_hash(value) or str(value or "")


def has_hash(placed: ResolvedTarget, world: Filesystem) -> bool:
    """Whether a hash of a target means something: for files that are changed or go, not for folders,
    nor for the place that a move leads to."""
    if placed.is_move_destination or placed.target.op not in _HASHED:
        return False
    return not world.is_dir(_physical(placed.target))


def exists(target: Target, call: ToolCall, world: Filesystem) -> bool:
    """Whether a target is known to be there already."""
    now = current_hash(target, call, world)
    return bool(now) if now is not None else world.exists(_physical(target)) is True


def _physical(target: Target) -> str:
    return target.path if target.physical is None else target.physical
