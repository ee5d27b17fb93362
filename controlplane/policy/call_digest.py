"""The digest that binds an approval to one very call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from controlplane.policy.model import Intent, Target, ToolCall
from controlplane.policy.paths.content_hashes import current_hash
from controlplane.policy.paths.filesystem import Filesystem

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr).encode


def compute_digest(
    call: ToolCall, intent: Intent | None, targets: Iterable[Target], world: Filesystem
) -> str:
    """`sha256:…` over tool, input, folder, the known hashes of what it would change, and the intent's
    revision: a call that differs in any of them needs another approval.

    The input goes in as JSON with sorted keys, so that only the order of keys may differ.
    """
    bound = {
        "tool": call.tool,
        "input": call.input,
        "root": call.root,
        "cwd": call.cwd,
        "hashes": sorted({(target.path, current_hash(target, call, world) or "") for target in targets}),
        "intent": [intent.intent_id, intent.revision] if intent else None,
    }
    return "sha256:" + hashlib.sha256(_encode(bound).encode("utf-8", "surrogatepass")).hexdigest()
