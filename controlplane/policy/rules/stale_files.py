"""Find files that changed since the agent read them (contract 2, step 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from controlplane.policy.model import Reason, Target, ToolCall
from controlplane.policy.paths import content_hashes
from controlplane.policy.paths.filesystem import Filesystem


def find_stale_files(
    targets: Sequence[Target], expected: Any, call: ToolCall, filesystem: Filesystem
) -> tuple[Reason, tuple[str, ...]] | None:
    """Return the reason and the stale paths, given the call's `expected_content_hash`; None without any.

    A value that is no hash equals no file: it is stale where a current hash is known, and invalid elsewhere.
    """
    expected_hash = content_hashes.parse_hash(expected)
    current = {target.path: content_hashes.find_current_hash(target, call, filesystem) for target in targets}
    stale = tuple(path for path, now in current.items() if now is not None and now != expected_hash)
    if stale:
        return Reason.HASH_MISMATCH, stale
    return (Reason.INVALID_INPUT, ()) if expected_hash is None else None


def find_files_without_hash(
    targets: Sequence[Target], call: ToolCall, filesystem: Filesystem
) -> tuple[Reason, tuple[str, ...]] | None:
    """Return the existing files that policy `require_content_hash` wants a hash for; None without any."""
    paths = tuple(target.path for target in targets if content_hashes.exists(target, call, filesystem))
    return (Reason.HASH_REQUIRED, paths) if paths else None
