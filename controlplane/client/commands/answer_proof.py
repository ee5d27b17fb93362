"""Check the proof of a reconciliation: every entry that it names is in the ledger that this machine knows."""

from __future__ import annotations

import hashlib
import json

from controlplane.client.connection import ControlPlaneError
from controlplane.client.head_witness import compute_entry_root, witness_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class AnswerNotProvenError(ControlPlaneError):
    """The answer names what its proof does not show."""


def check_answer(connection: dict[str, Any], body: dict[str, Any], answer: dict[str, Any]) -> str:
    """Raise ControlPlaneError unless every named entry is proven. Return what was checked, in words."""
    proof = answer.get("proof")
    if not isinstance(proof, dict):
        raise AnswerNotProvenError("The answer brings no proof: nothing of it is in a sealed ledger.")
    head = witness_head(connection, proof)
    proven = [prove(entry, head) for entry in proof["entries"]]
    by_name = {(fields["kind"], fields["entry_id"]): fields for fields in proven}
    hashes = {file["path"]: file.get("content_hash") for file in body["files"]}
    for finding in [*answer["findings"], *answer["explained"]]:
        require_proven(finding, by_name, hashes.get(finding["path"]))
    with_content = sum(1 for fields in proven if fields["text"] is not None)
    return (
        f"proven: {len(proven)} entries ({with_content} with content) against {head['size']} of {head['log']}"
    )


def prove(entry: dict[str, Any], head: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry as they were hashed; `text` is its body, None without one."""
    try:
        envelope, nodes = entry["envelope"].encode(), [bytes.fromhex(node) for node in entry["hashes"]]
        root = compute_entry_root(envelope, entry["seq"], head["size"], nodes)
        fields, text = json.loads(envelope), entry.get("body")
        name, recorded = fields["entry_id"], fields["body_digest"]
        digest = None if text is None else hashlib.sha256(bytes.fromhex(entry["salt"]) + text.encode())
    except (LookupError, TypeError, ValueError, AttributeError) as problem:
        raise AnswerNotProvenError("The proof of the answer cannot be read.") from problem
    if digest is not None and digest.hexdigest() != recorded:
        raise AnswerNotProvenError(f"The content of entry {name} is not the recorded one.")
    if root.hex() != head["root"]:
        raise AnswerNotProvenError(f"Entry {name} is not in the ledger that was signed.")
    return {**fields, "text": text}


def require_proven(finding: dict[str, Any], proven: dict[Any, Any], content_hash: str | None) -> None:
    """Raise AnswerNotProvenError where the ledger does not say what an explained file rests on."""
    path, explained = finding["path"], finding["outcome"] == "explained"
    if explained and not finding["entry_id"]:
        raise AnswerNotProvenError(f"{path} is called explained, but no entry is named.")
    for name, kind in (("entry_id", "trace"), ("decision_id", "decision")):
        fields = proven.get((kind, finding[name])) if finding[name] else None
        if finding[name] and fields is None:
            raise AnswerNotProvenError(f"{path}: its {kind} {finding[name]} is not proven.")
        if explained and fields and fields.get("session_id") != finding["session_id"]:
            raise AnswerNotProvenError(f"{path}: {finding[name]} is of another session.")
        if explained and fields and not records(fields, content_hash):
            raise AnswerNotProvenError(f"{path}: the trace {finding[name]} does not record its content.")


def records(fields: dict[str, Any], content_hash: str | None) -> bool:
    """Return whether a trace names the content; True where there is none to compare, or no body to read."""
    text = fields["text"] if fields["kind"] == "trace" else None
    return text is None or not content_hash or content_hash in text
