"""The digest that binds an approval to one exact call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from controlplane.policy.model import SelectedIntent, Target, ToolCall
from controlplane.policy.paths.content_hashes import find_current_hash
from controlplane.policy.paths.filesystem import Filesystem

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr).encode


def compute_digest(
    call: ToolCall, intent: SelectedIntent | None, targets: Iterable[Target], filesystem: Filesystem
) -> str:
    """Return `sha256:…` over tool, input, directory, the known hashes of the targets, and the intent's
    revision: a call that differs in any of them needs another approval.

    The input goes in as JSON with sorted keys, so that only the order of keys may differ.
    """
    hashes = {(target.path, find_current_hash(target, call, filesystem) or "") for target in targets}
    bound = {
        "tool": call.tool,
        "input": call.input,
        "root": call.root,
        "cwd": call.cwd,
        "hashes": sorted(hashes),
        "intent": [intent.intent_id, intent.revision] if intent else None,
    }
    # Agents send lone surrogates, too: they must not fail the digest.
    return "sha256:" + hashlib.sha256(_encode(bound).encode("utf-8", "surrogatepass")).hexdigest()
