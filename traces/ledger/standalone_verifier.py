"""Check proofs of the ledger without the product: one file, Python 3.11 or later, nothing else.

    python verify.py bundle evidence.zip --key 'log+id+key' [--old saved.txt]
    python verify.py inclusion proof.json --key 'log+id+key' [--checkpoint saved.txt]
    python verify.py consistency proof.json --key 'log+id+key' --old old.txt --new new.txt
    python verify.py archive acme-ledger-0-511.jsonl.gz --key 'log+id+key'

The key is `verifier_key` of /api/v1/ledger, kept since the first day rather than fetched today. A later one
counts where the key before it signed the change: --key-changes, the text of /api/v1/ledger/key-changes; a
bundle brings its own. Checkpoints are texts of /api/v1/ledger/checkpoint. --witness 'name+id+key' counts a
cosignature, --quorum says how many there must be. A bundle or an archive brings its own signed head; that it
continues one you kept is a matter of consistency: --old, for a bundle that was asked for with ?from=SIZE.
Prints what holds, from nothing but what was hashed and signed; exit status 1 with the reason otherwise.

Written against RFC 6962 (tree), RFC 8032 (Ed25519), C2SP signed notes and cosignatures without a line of the
product's own code or a library, so that an auditor can read all of what is relied upon.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

P = 2**255 - 19
UNREADABLE = (
    AttributeError, LookupError, RuntimeError, TypeError, ValueError, OSError, EOFError, zlib.error,
    zipfile.BadZipFile,
)  # fmt: skip
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
BASE_Y = 4 * pow(5, -1, P) % P
Point = tuple[int, int]
Roots = tuple[bytes, bytes]


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
    return 1 << ((size - 1).bit_length() - 1)  # the largest power of two below


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


def compute_consistency_roots(old: int, new: int, path: list[bytes], left: bytes | None) -> Roots:
    """(old root, new root) that a consistency path leads to, by the recursion of RFC 6962, 2.1.2.

    `left` is the root of the old tree while it is the left edge untouched: then it is not in the path.
    """
    if old == new:
        require(len(path) == (left is None), "the path has a wrong length")
        return (path[0], path[0]) if left is None else (left, left)
    require(bool(path), "the path is too short")
    middle, sibling = split_point(new), path[-1]
    if old <= middle:
        before, after = compute_consistency_roots(old, middle, path[:-1], left)
        return before, node_hash(after, sibling)
    before, after = compute_consistency_roots(old - middle, new - middle, path[:-1], None)
    return node_hash(sibling, before), node_hash(sibling, after)


def add_points(left: Point, right: Point) -> Point:
    (x1, y1), (x2, y2) = left, right
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P


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


@dataclass
class Keys:
    """Keys of the log that are trusted and how each came to be, and keys of witnesses with those needed."""

    origins: dict[str, str]
    witnesses: list[str] = field(default_factory=list)
    quorum: int = 0

    def learn(self, changes: str) -> None:
        """Trust each new key whose change is signed by a trusted one and by itself."""
        for note in filter(str.strip, changes.split("\n\n\n")):
            title, old, new, time = note.strip("\n").split("\n")[:4]
            origin = title.removeprefix("key change of ")
            require(title != origin and new.startswith(f"{origin}+"), "a change of keys names no log")
            for key in (old, new) if old in self.origins else ():
                check_note(note.strip("\n") + "\n", origin, [key], "change of keys")
                self.origins.setdefault(new, f"which key {old.split('+')[1]} introduced at {time}")


class Head(NamedTuple):
    """A signed head: its tree, and in words what its signatures say."""

    origin: str
    size: int
    root: bytes
    signatures: str


def read_head(text: str, keys: Keys) -> Head:
    """A checkpoint that is signed by a trusted key, and by as many witnesses as are needed."""
    origin, size, root = text.split("\n")[:3]
    key = check_note(text, origin, list(keys.origins), "checkpoint")
    found = [time for witness in keys.witnesses if (time := find_cosignature(text, witness))]
    require(len(found) >= keys.quorum, f"{len(found)} witnesses signed the checkpoint, {keys.quorum} must")
    signer = f"key {key.split('+')[1]}, {keys.origins[key]}"
    witnesses = "; ".join([f"{len(found)} of {len(keys.witnesses)} witnesses signed it", *found])
    return Head(
        origin,
        int(size),
        base64.b64decode(root),
        f"The head of {size} entries of {origin} is signed by {signer}; {witnesses}.",
    )


def list_signatures(text: str, name: str, wanted_id: bytes) -> list[bytes]:
    lines = [line.removeprefix("\u2014 ").rpartition(" ") for line in text.partition("\n\n")[2].splitlines()]
    blobs = [base64.b64decode(blob) for signer, _, blob in lines if signer == name]
    return [blob[4:] for blob in blobs if blob[:4] == wanted_id]


def check_note(text: str, origin: str, verifier_keys: list[str], label: str) -> str:
    """The note is signed under the name of the log by one of the keys, which is returned."""
    read = {verifier_key: read_key(verifier_key, 1) for verifier_key in verifier_keys}
    names = {name for name, _, _ in read.values()}
    require(origin in names, f"the {label} is of {origin}, the key of {', '.join(sorted(names))}")
    signed_text = f"{text.partition(chr(10) * 2)[0]}\n".encode()
    for verifier_key, (name, wanted_id, key) in read.items():
        for signature in list_signatures(text, origin, wanted_id) if name == origin else []:
            check_signature(key, signature, signed_text)
            return verifier_key
    raise DoesNotHoldError(f"the {label} has no signature by this key")


def find_cosignature(text: str, witness: str) -> str:
    """When a witness signed the note, with its name; "" if it did not."""
    name, wanted_id, key = read_key(witness, 4)
    for blob in list_signatures(text, name, wanted_id):
        seconds = int.from_bytes(blob[:8], "big")
        signed_text = f"cosignature/v1\ntime {seconds}\n{text.partition(chr(10) * 2)[0]}\n"
        check_signature(key, blob[8:], signed_text.encode())
        return f"{name} at {datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    return ""


def read_key(verifier_key: str, algorithm: int) -> tuple[str, bytes, bytes]:  # name, id, key
    if verifier_key.count("+") < 2:
        raise ValueError("a key is log+id+key")
    name, stated_id, encoded = verifier_key.split("+", 2)
    key = base64.b64decode(encoded)
    computed_id = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    require(computed_id.hex() == stated_id, "the key does not fit its id")
    require(key[0] == algorithm, "the key is of another kind")
    return name, computed_id, key[1:]


def check_entry(entry: dict[str, Any], head: Head) -> str:
    """The envelope is in the tree of the head, the body is the recorded one. Say so in its own words."""
    envelope = entry["envelope"].encode()
    leaf, recorded = leaf_hash(envelope), json.loads(envelope)
    path = [bytes.fromhex(node) for node in entry["hashes"]]
    root = compute_inclusion_root(leaf, entry["seq"], head.size, path)
    require(root == head.root, "the entry does not lead to the signed root")
    proven = [("entry_id", recorded["entry_id"]), ("leaf_hash", leaf.hex()), ("root", root.hex())]
    for name, value in [*proven, ("log", head.origin)]:
        require(entry.get(name, value) == value, f"its {name} is {value}, the proof says {entry.get(name)}")
    body = ", and its body is the recorded one." if check_body(entry) else ". Its body is not in the proof."
    return f"Entry {recorded['entry_id']} is number {entry['seq']} of {head.size}{body}"


def check_inclusion(proof: dict[str, Any], keys: Keys, saved: str | None) -> str:
    text = saved or proof["checkpoint"]
    require(bool(text), "the proof brings no checkpoint; give one of the same size with --checkpoint")
    head, size = read_head(text, keys), proof["size"]
    require(head.size == size, f"the checkpoint is of size {head.size}, the proof of {size}")
    return f"{check_entry(proof, head)}\n{head.signatures}"


def check_consistency(proof: dict[str, Any], keys: Keys, old: str, new: str) -> str:
    before, after = read_head(old, Keys(keys.origins)), read_head(new, keys)
    sizes = (before.size, after.size)
    require(sizes == (proof["old_size"], proof["new_size"]), "the proof is of other sizes")
    require(before.size <= after.size, "the ledger has shrunk")
    path = [bytes.fromhex(node) for node in proof["hashes"]]
    roots = compute_consistency_roots(before.size, after.size, path, before.root)
    require(roots == (before.root, after.root), "the later ledger does not begin with the earlier one")
    found = f"The ledger of {after.size} entries begins with the ledger of {before.size} entries."
    return f"{found}\n{after.signatures}"


def check_bundle(path: str, keys: Keys, old: str | None) -> str:
    """Every entry of the bundle leads to its head, and the list is the one that the server sealed."""
    with zipfile.ZipFile(path) as bundle:
        names = [name for name in bundle.namelist() if name[-4:] in {".txt", "json"}]
        texts = {name: bundle.read(name).decode() for name in names}
        keys.learn(texts["key-changes.txt"])
        head, digest, entries, bodies = read_head(texts["head.txt"], keys), hashlib.sha256(), 0, 0
        with bundle.open("entries.jsonl") as file:
            for line in read_lines(file, digest):
                entry = json.loads(line)
                check_entry(entry, head)
                entries, bodies = entries + 1, bodies + (entry.get("body") is not None)
    check_note(texts["seal.txt"], head.origin, list(keys.origins), "seal")
    title, query, *sealed = texts["seal.txt"].split("\n")[:4]
    read = [f"evidence of {head.origin}", str(entries), base64.b64encode(digest.digest()).decode()]
    require([title, *sealed] == read, "the entries are not those that were sealed")
    found = f"These {entries} entries, {bodies} with their bodies, are what the server sealed for {query!r}."
    if not old:
        return f"{found}\n{head.signatures}"
    require("consistency.json" in texts, "the bundle was not asked for with ?from=SIZE of your head")
    proof = json.loads(texts["consistency.json"])
    return f"{found}\n{check_consistency(proof, keys, old, texts['head.txt'])}"


def check_archive(path: str, keys: Keys) -> str:
    """Every entry leads to the signed head of the file, every body is the recorded one, the seal holds."""
    digest = hashlib.sha256()
    with gzip.open(path, "rb") as file:
        lines = read_lines(file, digest)
        header = json.loads(next(lines))
        log, first, end = header["log"], header["first"], header["end"]
        require(header["format"] == "intent-control-plane/archive/1", "this is not an archive")
        head = read_head(header["checkpoint"], keys)
        require(head.origin == log, "the checkpoint is of another log")
        require(0 <= first < end <= head.size, "the range is not in the tree")
        nodes: list[tuple[int, bytes]] = []
        add_subtrees(nodes, 0, first, header["left"])
        bodies = 0
        for seq in range(first, end):
            entry = json.loads(next(lines))
            require(entry["seq"] == seq, f"entry {seq} is missing")
            bodies += check_body(entry)
            add_node(nodes, 0, leaf_hash(entry["envelope"].encode()))
        add_subtrees(nodes, end, head.size, header["right"])
        require(fold_roots(nodes) == head.root, "the entries do not lead to the signed root")
        sealed = [f"archive of {log}", f"{first}-{end}", base64.b64encode(digest.digest()).decode()]
        seal = json.loads(next(lines))["seal"]
        require(next(lines, None) is None, "something follows the seal")
    check_note(seal, log, list(keys.origins), "seal")
    require(seal.split("\n")[:3] == sealed, "the content is not what was sealed")
    found = f"Entries {first} to {end - 1} of {head.size} are these, {bodies} with their bodies."
    return f"{found}\n{head.signatures}"


def read_lines(file: Any, digest: Any) -> Iterator[bytes]:
    while line := file.readline(16 * 1024 * 1024):
        digest.update(line)
        yield line


def check_body(entry: dict[str, Any]) -> bool:
    if entry.get("body") is None:
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
    texts = {name: path.read_text("utf-8") for name, path in vars(options).items() if isinstance(path, Path)}
    keys = Keys(dict.fromkeys(options.key, "which you gave"), sorted({*options.witness}), options.quorum)
    keys.learn(texts.get("key_changes", ""))
    if options.what == "archive":
        return check_archive(options.file, keys)
    if options.what == "bundle":
        return check_bundle(options.file, keys, texts.get("old"))
    proof = json.loads(Path(options.file).read_text("utf-8"))
    if options.what == "inclusion":
        return check_inclusion(proof, keys, texts.get("checkpoint"))
    return check_consistency(proof, keys, texts["old"], texts["new"])


def describe_error(error: Exception, proof: str) -> str:
    """What is wrong with a file, without its content: that may be megabytes of anything."""
    if isinstance(error, OSError):
        return f"{error.filename or proof}: {error.strerror or error}"
    if isinstance(error, UnicodeDecodeError):
        return f"{proof}, or a checkpoint, is not text"
    if isinstance(error, KeyError):
        return f"{proof} has no {error}: it is not a proof of this kind"
    return f"{proof}, a checkpoint or a key is not of the form expected: {str(error)[:200]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["bundle", "inclusion", "consistency", "archive"])
    parser.add_argument("file", help="the proof, the bundle or the archive")
    parser.add_argument("--key", required=True, action="append", help="more than once after a change of keys")
    parser.add_argument("--witness", action="append", default=[], help="a witness, name+id+key")
    parser.add_argument("--quorum", type=int, default=0, help="how many witnesses must have signed")
    for name in ("checkpoint", "old", "new", "key-changes"):
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
        sys.exit(f"CANNOT BE READ: {describe_error(error, options.file)}.")
    sys.stdout.write(f"HOLDS: {message}\n")


if __name__ == "__main__":
    main()
