"""Tell which held calls are alike: one session, one rule, and the same call but for the name of its target.

`rm -rf build/1` and `rm -rf build/2` have one shape; `rm -rf src` has another, as its folder differs.
Edits are never alike: a reviewer reads each, and its row names its file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from controlplane.templatetags.names import agent_title
from sessions.approvals.card.subjects import ApprovalSubject, describe_subject, list_paths
from sessions.models import Approval

MASK = "\N{HORIZONTAL ELLIPSIS}"
MAX_LENGTH = 20_000  # of the input; a longer call is alike with none
MAX_TARGETS = 20
ALIKE_KINDS = frozenset({"shell", "delete"})
MAX_SEARCHED_PATHS = 50
MAX_SEARCH_TEXT = 4000
WORDS_ABOUT_THE_CALL = frozenset({"description", "explanation", "requires_approval", "timeout", "timeout_ms"})


def compute_shape(approval: Approval) -> str:
    """Return the digest that alike calls share; "" for what is decided one by one."""
    call = approval.call
    if not call.get("targets") or describe_subject(approval).kind not in ALIKE_KINDS:
        return ""
    text = json.dumps(_drop_comments(call.get("input")), sort_keys=True, ensure_ascii=False)
    masked = mask_targets(text, call)
    if masked == "":
        return ""
    parts = [
        approval.session_id, approval.intent_id, approval.tool, approval.error_type, approval.reason,
        int(approval.reach), call.get("cwd"), masked,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:32]


def describe_shape(approval: Approval, subject: ApprovalSubject) -> str:
    """Return the object of a row that stands for several calls, e.g. `rm -rf build/…`."""
    return mask_targets(subject.object, approval.call) or subject.object


def build_search_text(approval: Approval) -> str:
    """Return what a search of the queue looks at: object, paths, agent, session and intent."""
    session = approval.session
    words = [
        describe_subject(approval).object, *list_paths(approval)[:MAX_SEARCHED_PATHS], approval.tool,
        session.agent_name, agent_title(session.agent_name), session.session_id, approval.intent_id,
    ]  # fmt: skip
    return "\n".join(filter(None, words)).casefold().replace("\0", "")[:MAX_SEARCH_TEXT]


def mask_targets(text: str, call: Mapping[str, Any]) -> str:
    """Return the text with the last segment of every target replaced; "" where none stands in it."""
    targets = call.get("targets") or []
    if len(text) > MAX_LENGTH or len(targets) > MAX_TARGETS:
        return ""
    root = str(call.get("root") or "").rstrip("/")
    masked = text
    for path in sorted({target["path"] for target in targets}, key=len, reverse=True):
        directory, slash, _ = path.rpartition("/")
        for spelling in _list_spellings(path, root):
            masked = re.sub(
                rf"(?<![\w./-]){re.escape(spelling)}(?![\w.-]*[\w-])",
                lambda _, directory=directory, slash=slash: f"{directory}{slash}{MASK}",  # type: ignore[misc]
                masked,
            )
    return masked if masked != text else ""


def _list_spellings(path: str, root: str) -> Iterable[str]:
    """Yield the ways in which an agent writes a path: absolute, from here, as it stands in the workspace."""
    if root:
        yield f"{root}/{path}"
    yield f"./{path}"
    yield path


def _drop_comments(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: item for name, item in value.items() if name not in WORDS_ABOUT_THE_CALL}
