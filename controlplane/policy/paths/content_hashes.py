"""Content hashes: parse what a caller claims, and find what is true now (step 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from controlplane.policy.model import Target, ToolCall
from controlplane.policy.paths.canonical import CanonicalPath, canonicalize
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.resolve import ResolvedTarget

_HASH = re.compile(r"sha256:[0-9a-fA-F]{64}")

_OPS_WITH_HASH = frozenset({"write", "delete", "move"})


def parse_hash(value: Any) -> str | None:
    """Return `sha256:` and 64 lower-case hex digits, or None for anything else."""
    return value.lower() if isinstance(value, str) and _HASH.fullmatch(value) else None


def find_current_hash(target: Target, call: ToolCall, filesystem: Filesystem) -> str | None:
    """Return the hash of a target's bytes now; "" when it is known to be gone, None when nobody knows.

    What the caller sends comes first (an unsaved buffer of an editor), then the disk, then the ledger.
    """
    if call.current_content_hashes:
        claimed = _find_claimed_hash(target, call)
        if claimed is not None:
            return claimed
    return filesystem.content_hash(target.physical_path)


def _find_claimed_hash(target: Target, call: ToolCall) -> str | None:
    hashes: Mapping[str, Any] = call.current_content_hashes
    for name in target.names:
        if name in hashes:
            return _to_hash(hashes[name])
    for raw, value in hashes.items():
        canonical = canonicalize(raw, root=call.root, cwd=call.cwd, writing=False)
        if isinstance(canonical, CanonicalPath) and canonical.path in target.names:
            return _to_hash(value)
    return None


def _to_hash(value: Any) -> str:
    # What is no hash equals none: it counts as another content, never as the expected one.
    return parse_hash(value) or str(value or "")


def has_hash(resolved: ResolvedTarget, filesystem: Filesystem) -> bool:
    """Return whether a target's hash means something: it is a file that the call changes or removes,
    no directory and not the destination of a move."""
    if resolved.is_move_destination or resolved.target.op not in _OPS_WITH_HASH:
        return False
    return not filesystem.is_dir(resolved.target.physical_path)


def exists(target: Target, call: ToolCall, filesystem: Filesystem) -> bool:
    """Return whether a target is known to be there already."""
    current = find_current_hash(target, call, filesystem)
    return bool(current) if current is not None else filesystem.exists(target.physical_path) is True
