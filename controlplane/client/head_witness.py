"""Be a witness of the ledger: keep the last signed head, and ask for a proof that the next one continues it.

A server that was taken back to an older backup, or that shows another history, is contradicted by the head
that lies here. A kept head is replaced only by one that continues it. Roots are compared, signatures are not:
the kept head is what this machine trusts, and its signature is for others (the verifier of the ledger page).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys

from controlplane.client.config.atomic_write import write_atomically
from controlplane.client.connection import CONFIG_DIR, ControlPlaneError
from controlplane.client.http_request import load_connection, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

HEADS = f"{CONFIG_DIR}/heads.json"
ADVICE = (
    "Do not rely on what this ledger says until its operator explains it. If it was restored from a backup,"
    f" and you accept that, remove its head from {HEADS}."
)


class LedgerContradictedError(ControlPlaneError):
    """The ledger does not continue the head that was kept here."""


def add_witness_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print the head that is kept now")
    command.set_defaults(run=witness)


def witness(options: argparse.Namespace) -> int:
    """Return 0 if the ledger continues the kept head, 1 if it contradicts it, 2 if that is not known."""
    try:
        head = witness_head(load_connection())
    except LedgerContradictedError as problem:
        print(f"icp witness: {problem}", file=sys.stderr)
        return 1
    except (ControlPlaneError, OSError, ValueError, LookupError, TypeError) as problem:
        print(f"icp witness: {problem}", file=sys.stderr)
        return 2
    summary = f"{head['log']}: {head['size']} entries, root {head['root']}"
    print(json.dumps(head, indent=2) if options.json else summary)
    return 0


def describe_contradiction(connection: dict[str, Any]) -> str:
    """Return why the ledger contradicts the kept head, for a hook; "" if it does not, or cannot be asked."""
    try:
        witness_head(connection)
    except LedgerContradictedError as problem:
        return str(problem)
    except (ControlPlaneError, OSError, ValueError, LookupError, TypeError):
        return ""
    return ""


def witness_head(connection: dict[str, Any], answer: dict[str, Any] | None = None) -> dict[str, Any]:
    """Compare the head of an answer, or the newest one, with the kept head. Keep and return it.

    Raise LedgerContradictedError, or ControlPlaneError where no head could be compared.
    """
    heads, key = read_heads(), name_connection(connection)
    kept = heads.get(key)
    head = read_head(answer or request_json(connection, "GET", "ledger"))
    if kept:
        require_continuation(connection, kept, head)
    if head["size"] and head != kept:
        os.makedirs(CONFIG_DIR, exist_ok=True)
        write_atomically(HEADS, json.dumps({**heads, key: head}, indent=1).encode(), 0o600)
    return head


def read_head(answer: dict[str, Any]) -> dict[str, Any]:
    """Return `log`, `size`, `root` and `checkpoint` as the signed text says them. Raise ControlPlaneError."""
    note = answer.get("checkpoint")
    if note is None:
        return {"log": answer.get("log"), "size": 0, "root": "", "checkpoint": ""}
    try:
        log, size, root = str(note).split("\n")[:3]
        return {"log": log, "size": int(size), "root": base64.b64decode(root).hex(), "checkpoint": note}
    except ValueError as problem:
        raise ControlPlaneError("The signed head of the ledger cannot be read.") from problem


def require_continuation(connection: dict[str, Any], kept: dict[str, Any], head: dict[str, Any]) -> None:
    """Raise LedgerContradictedError unless the tree of `head` begins with that of `kept`."""
    story = f"{kept['size']} entries of {kept['log']} were seen here before. "
    if head["log"] != kept["log"]:
        raise LedgerContradictedError(f"{story}Now the ledger is called {head['log']}. {ADVICE}")
    if head["size"] < kept["size"]:
        raise LedgerContradictedError(f"{story}Now there are only {head['size']}. {ADVICE}")
    path = f"ledger/proof/consistency?from={kept['size']}&to={head['size']}"
    hashes = request_json(connection, "GET", path).get("hashes")
    try:
        nodes = [bytes.fromhex(node) for node in hashes or []]
        roots = compute_roots(kept["size"], head["size"], nodes, bytes.fromhex(kept["root"]))
    except (ValueError, TypeError, IndexError):
        roots = None
    if roots != (bytes.fromhex(kept["root"]), bytes.fromhex(head["root"])):
        raise LedgerContradictedError(f"{story}They are others now: the ledger has another history. {ADVICE}")


def compute_roots(old: int, new: int, path: list[bytes], left: bytes | None) -> tuple[bytes, bytes]:
    """Return (old root, new root) that a consistency path leads to (RFC 6962, 2.1.2). Raise ValueError.

    `left` is the root of the old tree while it is the left edge untouched: then it is not in the path.
    """
    if old == new:
        if len(path) != (left is None):
            raise ValueError("the path has a wrong length")
        return (path[0], path[0]) if left is None else (left, left)
    middle, sibling = 1 << ((new - 1).bit_length() - 1), path[-1]
    if old <= middle:
        before, after = compute_roots(old, middle, path[:-1], left)
        return before, hash_nodes(after, sibling)
    before, after = compute_roots(old - middle, new - middle, path[:-1], None)
    return hash_nodes(sibling, before), hash_nodes(sibling, after)


def compute_entry_root(envelope: bytes, place: int, size: int, path: list[bytes]) -> bytes:
    """Return the root that an entry's inclusion path leads to (RFC 6962, 2.1.1). Raise ValueError."""
    if not 0 <= place < size or (size == 1) != (not path):
        raise ValueError("the path has a wrong length")
    if size == 1:
        return hashlib.sha256(b"\x00" + envelope).digest()
    middle = 1 << ((size - 1).bit_length() - 1)
    if place < middle:
        return hash_nodes(compute_entry_root(envelope, place, middle, path[:-1]), path[-1])
    return hash_nodes(path[-1], compute_entry_root(envelope, place - middle, size - middle, path[:-1]))


def hash_nodes(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def read_heads() -> dict[str, Any]:
    """Return the heads kept on this machine. Raise ValueError for a file that cannot be read."""
    try:
        with open(HEADS, "rb") as file:
            heads = json.loads(file.read())
    except FileNotFoundError:
        return {}
    if not isinstance(heads, dict):
        raise ValueError(f"{HEADS} contains no object")  # noqa: TRY004  as for broken JSON
    return heads


def name_connection(connection: dict[str, Any]) -> str:
    """Return a name for the address and the token, which reveals neither."""
    secret = f"{connection['url']}\n{connection['token']}"
    return hashlib.sha256(secret.encode()).hexdigest()[:32]
