"""Check proofs of the ledger without the product: one file, Python 3.11 or later, nothing else.

    python standalone_verifier.py inclusion proof.json --key 'log+id+key' [--checkpoint saved.txt]
    python standalone_verifier.py consistency proof.json --key 'log+id+key' --old old.txt --new new.txt
    python standalone_verifier.py archive acme-ledger-0-511.jsonl.gz --key 'log+id+key'

`proof.json` is the answer of /api/v1/ledger/proof/…, the key is `verifier_key` of /api/v1/ledger, kept since
the first day rather than fetched today, and checkpoints are texts of /api/v1/ledger/checkpoint. An archive
brings its own signed head; that this head belongs to one you kept is a matter of consistency. Prints what
holds; exit status 1 with the reason when something does not.

Written against RFC 6962 (tree), RFC 8032 (Ed25519) and C2SP signed notes on purpose without a line of the
product's own code or a library, so that an auditor can read all of what is relied upon.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

P = 2**255 - 19
UNREADABLE = (
    AttributeError, LookupError, RecursionError, TypeError, ValueError, OSError, EOFError, zlib.error
)  # fmt: skip
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
BASE_Y = 4 * pow(5, -1, P) % P

Point = tuple[int, int]


class DoesNotHoldError(Exception):
    """The evidence does not show what it should; the message says which part."""


def require(holds: bool, problem: str) -> None:
    if not holds:
        raise DoesNotHoldError(problem)


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def split_point(size: int) -> int:
    """The largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def compute_inclusion_root(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root that a leaf and its path lead to, by the recursion of RFC 6962, 2.1.1, read upwards."""
    require(0 <= index < size, "the place is not in the tree")
    if size == 1:
        require(not path, "the path is too long")
        return leaf
    require(bool(path), "the path is too short")
    middle, sibling = split_point(size), path[-1]
    if index < middle:
        return node_hash(compute_inclusion_root(leaf, index, middle, path[:-1]), sibling)
    return node_hash(sibling, compute_inclusion_root(leaf, index - middle, size - middle, path[:-1]))


def compute_consistency_roots(
    old: int, new: int, path: list[bytes], old_root: bytes, is_left_edge: bool
) -> tuple[bytes, bytes]:
    """(old root, new root) that a consistency path leads to, by the recursion of RFC 6962, 2.1.2.

    `whole` while the old tree is the left edge untouched: then its root is known and not in the path.
    """
    if old == new:
        if is_left_edge:
            require(not path, "the path is too long")
            return old_root, old_root
        require(len(path) == 1, "the path has a wrong length")
        return path[0], path[0]
    require(bool(path), "the path is too short")
    middle, sibling = split_point(new), path[-1]
    if old <= middle:
        before, after = compute_consistency_roots(old, middle, path[:-1], old_root, is_left_edge)
        return before, node_hash(after, sibling)
    before, after = compute_consistency_roots(
        old - middle, new - middle, path[:-1], old_root, is_left_edge=False
    )
    return node_hash(sibling, before), node_hash(sibling, after)


def add_points(left: Point, right: Point) -> Point:
    (x1, y1), (x2, y2) = left, right
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P
    return x, y


def multiply_point(count: int, point: Point) -> Point:
    total = (0, 1)
    while count:
        if count & 1:
            total = add_points(total, point)
        point, count = add_points(point, point), count >> 1
    return total


def decode_point(raw: bytes) -> Point:
    number = int.from_bytes(raw, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    require(y < P, "a point is not canonical")
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    require((x * x - square) % P == 0 and not (x == 0 and sign), "a point is not on the curve")
    return (P - x if x & 1 != sign else x), y


def check_signature(key: bytes, signature: bytes, text: bytes) -> None:
    """RFC 8032, 5.1.7, without the cofactor: what signers produce passes, everything malleable is refused."""
    require(len(key) == 32 and len(signature) == 64, "key or signature has a wrong length")
    scalar = int.from_bytes(signature[32:], "little")
    require(scalar < ORDER, "the signature is malleable")
    digest = hashlib.sha512(signature[:32] + key + text).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    base = decode_point(BASE_Y.to_bytes(32, "little"))
    expected = add_points(decode_point(signature[:32]), multiply_point(challenge, decode_point(key)))
    require(multiply_point(scalar, base) == expected, "the signature is not by this key")


def read_checkpoint(text: str, verifier_keys: list[str]) -> tuple[int, bytes]:
    """(size, root) of a checkpoint that is signed by one of the keys."""
    origin, size, root = text.split("\n")[:3]
    check_note(text, origin, verifier_keys, "checkpoint")
    return int(size), base64.b64decode(root)


def check_note(text: str, origin: str, verifier_keys: list[str], label: str) -> None:
    """The note is signed under the name of the log by one of the keys."""
    signed_text, _, signatures = text.partition("\n\n")
    keys = [read_key(verifier_key, origin) for verifier_key in verifier_keys]
    for line in signatures.splitlines():
        name, _, blob = line.removeprefix("\u2014 ").partition(" ")
        raw = base64.b64decode(blob)
        for key_id, key in keys:
            if name == origin and raw[:4] == key_id:
                check_signature(key, raw[4:], f"{signed_text}\n".encode())
                return
    raise DoesNotHoldError(f"the {label} has no signature by this key")


def read_key(verifier_key: str, origin: str) -> tuple[bytes, bytes]:
    """(key id, public key) of a key that speaks for the log."""
    if verifier_key.count("+") < 2:
        raise ValueError("a key is log+id+key")
    name, key_id, encoded = verifier_key.split("+", 2)
    key = base64.b64decode(encoded)
    computed_id = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    require(computed_id.hex() == key_id, "the key does not fit its id")
    require(origin == name, f"the checkpoint is of {origin}, the key of {name}")
    return computed_id, key[1:]


def check_inclusion(proof: dict[str, Any], keys: list[str], saved: str | None) -> str:
    """The envelope is in the tree of the signed head; the body, where it is there, is the one recorded."""
    text = saved or proof["checkpoint"]
    require(bool(text), "the proof brings no checkpoint; give one of the same size with --checkpoint")
    size, root = read_checkpoint(text, keys)
    require(size == proof["size"], f"the checkpoint is of size {size}, the proof of {proof['size']}")
    envelope = proof["envelope"].encode()
    path = [bytes.fromhex(node) for node in proof["hashes"]]
    computed_root = compute_inclusion_root(leaf_hash(envelope), proof["seq"], size, path)
    require(computed_root == root, "the entry does not lead to the signed root")
    if proof.get("body") is None:
        return f"Entry {proof['entry_id']} is number {proof['seq']} of {size}. Its body is not in the proof."
    digest = hashlib.sha256(bytes.fromhex(proof["salt"]) + proof["body"].encode()).hexdigest()
    require(json.loads(envelope)["body_digest"] == digest, "the body is not the one that was recorded")
    return f"Entry {proof['entry_id']} is number {proof['seq']} of {size}, and its body is the recorded one."


def check_consistency(proof: dict[str, Any], keys: list[str], old: str, new: str) -> str:
    (old_size, old_root), (new_size, new_root) = read_checkpoint(old, keys), read_checkpoint(new, keys)
    require((old_size, new_size) == (proof["old_size"], proof["new_size"]), "the proof is of other sizes")
    require(old_size <= new_size, "the ledger has shrunk")
    path = [bytes.fromhex(node) for node in proof["hashes"]]
    before, after = compute_consistency_roots(old_size, new_size, path, old_root, is_left_edge=True)
    require((before, after) == (old_root, new_root), "the later ledger does not begin with the earlier one")
    return f"The ledger of {new_size} entries begins with the ledger of {old_size} entries."


def check_archive(path: Path, keys: list[str]) -> str:
    """Every entry leads to the signed head of the file, every body is the recorded one, the seal holds."""
    lines, content_hash = archive_lines(path), hashlib.sha256()
    first_line = next(lines)
    content_hash.update(first_line)
    header = json.loads(first_line)
    log, first, end = header["log"], header["first"], header["end"]
    require(header["format"] == "intent-control-plane/archive/1", "this is not an archive")
    size, root = read_checkpoint(header["checkpoint"], keys)
    require(header["checkpoint"].startswith(f"{log}\n"), "the checkpoint is of another log")
    require(0 <= first < end <= size, "the range is not in the tree")
    nodes: list[tuple[int, bytes]] = []
    add_subtrees(nodes, 0, first, header["left"])
    bodies = 0
    for seq in range(first, end):
        line = next(lines)
        content_hash.update(line)
        entry = json.loads(line)
        require(entry["seq"] == seq, f"entry {seq} is missing")
        bodies += check_body(entry)
        add_node(nodes, 0, leaf_hash(entry["envelope"].encode()))
    add_subtrees(nodes, end, size, header["right"])
    require(fold_roots(nodes) == root, "the entries do not lead to the signed root")
    seal = json.loads(next(lines))["seal"]
    check_note(seal, log, keys, "seal")
    sealed_lines = seal.split("\n")[:3]
    digest = base64.b64encode(content_hash.digest()).decode()
    require(
        sealed_lines == [f"archive of {log}", f"{first}-{end}", digest], "the content is not what was sealed"
    )
    require(next(lines, None) is None, "something follows the seal")
    return f"Entries {first} to {end - 1} of {size} are these, {bodies} with their bodies."


def archive_lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rb") as file:
        while line := file.readline(16 * 1024 * 1024):
            yield line


def check_body(entry: dict[str, Any]) -> bool:
    if entry["body"] is None:
        return False
    digest = hashlib.sha256(bytes.fromhex(entry["salt"]) + entry["body"].encode()).hexdigest()
    recorded = json.loads(entry["envelope"])["body_digest"]
    require(recorded == digest, f"the body of entry {entry['seq']} is not the one that was recorded")
    return True


def add_subtrees(nodes: list[tuple[int, bytes]], start: int, end: int, roots: list[str]) -> None:
    """Append the largest complete subtrees over [start, end), whose roots are told in order."""
    for node in roots:
        require(start < end, "the tree around the range has too many nodes")
        height = min((start & -start).bit_length() - 1 if start else 64, (end - start).bit_length() - 1)
        add_node(nodes, height, bytes.fromhex(node))
        start += 1 << height
    require(start == end, "the tree around the range is incomplete")


def add_node(nodes: list[tuple[int, bytes]], height: int, node: bytes) -> None:
    """Append the root of a complete subtree of 2^height leaves, and join neighbours of equal height."""
    while nodes and nodes[-1][0] == height:
        node = node_hash(nodes.pop()[1], node)
        height += 1
    nodes.append((height, node))


def fold_roots(nodes: list[tuple[int, bytes]]) -> bytes:
    root = nodes[-1][1]
    for _, left in reversed(nodes[:-1]):
        root = node_hash(left, root)
    return root


def run_check(options: argparse.Namespace) -> str:
    if options.what == "archive":
        return check_archive(options.proof, options.key)
    texts = {name: path.read_text("utf-8") for name, path in vars(options).items() if isinstance(path, Path)}
    proof = json.loads(texts["proof"])
    if options.what == "inclusion":
        return check_inclusion(proof, options.key, texts.get("checkpoint"))
    return check_consistency(proof, options.key, texts["old"], texts["new"])


def describe_error(error: Exception, proof: Path) -> str:
    """What is wrong with a file, without its content: that may be megabytes of anything."""
    if isinstance(error, OSError):
        return f"{error.filename or proof}: {error.strerror or error}"
    if isinstance(error, UnicodeDecodeError):
        return f"{proof}, or a checkpoint, is not text"
    if isinstance(error, KeyError):
        return f"{proof} has no {error}: it is not a proof of this kind"
    return f"{proof}, a checkpoint or a key is not of the form expected: {str(error)[:200]}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["inclusion", "consistency", "archive"])
    parser.add_argument("proof", type=Path, help="the proof, or the archive")
    parser.add_argument("--key", required=True, action="append", help="more than once after a change of keys")
    for name in ("checkpoint", "old", "new"):
        parser.add_argument(f"--{name}", type=Path)
    options = parser.parse_args()
    if options.what == "consistency" and not (options.old and options.new):
        parser.error("consistency needs the two checkpoints: --old FILE --new FILE")
    try:
        message = run_check(options)
    except DoesNotHoldError as error:
        sys.exit(f"DOES NOT HOLD: {error}.")
    except StopIteration:
        sys.exit("CANNOT BE READ: the archive is cut off.")
    except UNREADABLE as error:
        sys.exit(f"CANNOT BE READ: {describe_error(error, options.proof)}.")
    sys.stdout.write(f"HOLDS: {message}\n")


if __name__ == "__main__":
    main()
