"""Read and write archive files: a range of a ledger with its bodies, readable without the product.

An archive is gzip of JSON lines. First a header with the range, a signed head of the ledger and the roots of
the subtrees around the range; then one line per entry, in order; last a signed note over all lines before it.
So the file alone proves that its entries lead to the signed head. Equal content makes equal bytes.

Nothing that a reader returns is proven before it has reached the end without an error.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from traces.ledger import merkle
from traces.ledger.archive_seal import ArchiveSeal, parse_seal, sign_seal
from traces.ledger.checkpoints import SignedNote, is_signed_by_installation, parse_checkpoint

FORMAT = "intent-control-plane/archive/1"
MAX_LINE_LENGTH = 16 * 1024 * 1024  # bytes; a body has at most one MiB, and JSON escapes make it longer
COMPRESSION_LEVEL = 6


class ArchiveError(ValueError):
    """A file is not an archive, or its content is not what was sealed. The message says where."""


@dataclass(frozen=True, slots=True)
class ArchiveHeader:
    """The range [first, end) of `log`. `left` and `right` hold the roots of the complete subtrees before and
    after the range in the tree of `checkpoint`, in order."""

    log: str
    first: int
    end: int
    checkpoint: str
    left: tuple[bytes, ...] = ()
    right: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchivedEntry:
    """One entry. `salt` and `body` are None where it was redacted before."""

    seq: int
    envelope: bytes
    salt: bytes | None
    body: bytes | None


def write_archive(path: Path, header: ArchiveHeader, entries: Iterable[ArchivedEntry]) -> None:
    """Write a complete archive to a new file and flush it to disk. Raise FileExistsError, OSError."""
    with open(path, "xb", opener=_owner_only) as raw:
        with gzip.GzipFile("", "wb", COMPRESSION_LEVEL, raw, mtime=0) as file:
            digest = hashlib.sha256()
            for line in _render_lines(header, entries):
                digest.update(line)
                file.write(line)
            note = sign_seal(header.log, header.first, header.end, digest.digest())
            file.write(_encode_line({"seal": note}))
        raw.flush()
        os.fsync(raw.fileno())


def _owner_only(path: str, flags: int) -> int:
    """Open for the owner only: an archive is as private as the database."""
    return os.open(path, flags, 0o600)


def publish_draft(draft: Path, path: Path) -> bool:
    """Rename a draft to `path`, never overwriting. Delete it and return False when the name is taken."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return True


def draft_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")


def compute_file_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


class ArchiveReader:
    """Read an archive once and check every part of it. Raise ArchiveError, or OSError for an unreadable file.

    `header` is available at once, `seal` after `entries` is exhausted.
    """

    def __init__(self, path: Path) -> None:
        self._running = hashlib.sha256()
        self._file = gzip.open(path, "rb")  # noqa: SIM115 - `close` and `with` end it
        try:
            self.header = _parse_header(self._next())
            self._head = _parse_head(self.header)
        except BaseException:
            self._file.close()
            raise
        self.seal: ArchiveSeal | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def entries(self) -> Iterator[ArchivedEntry]:
        tree = _Tree()
        for (level, _), root in zip(_around(self.header)[0], self.header.left, strict=True):
            tree.add(level, root)
        for seq in range(self.header.first, self.header.end):
            entry = _parse_entry(self._next(), seq)
            tree.add(0, merkle.leaf_hash(entry.envelope))
            yield entry
        for (level, _), root in zip(_around(self.header)[1], self.header.right, strict=True):
            tree.add(level, root)
        if tree.root() != self._head.root:
            raise ArchiveError("its entries do not lead to the signed head in its header")
        self._finish()

    def _finish(self) -> None:
        content = self._running.digest()
        last = self._next()
        try:
            seal = parse_seal(str(last.get("seal")))
        except ValueError as error:
            raise ArchiveError(f"it has no seal: {error}") from error
        header = self.header
        if (seal.log, seal.first, seal.end) != (header.log, header.first, header.end):
            raise ArchiveError("its seal is of another archive")
        if seal.digest != content:
            raise ArchiveError("its content is not what was sealed")
        if not seal.ours:
            raise ArchiveError("its seal is signed by no key of this installation")
        if self._read(1):
            raise ArchiveError("something follows its seal")
        self.seal = seal

    def _next(self) -> dict[str, Any]:
        line = self._read(MAX_LINE_LENGTH)
        if not line.endswith(b"\n"):
            raise ArchiveError("it is truncated, or has a line that is too long")
        self._running.update(line)
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ArchiveError("it has a line that is not JSON") from error
        if not isinstance(value, dict):
            raise ArchiveError("it has a line that is not a JSON object")
        return value

    def _read(self, max_bytes: int) -> bytes:
        try:
            return self._file.readline(max_bytes)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ArchiveError(f"it is not a complete gzip file: {error}") from error


class _Tree:
    """Complete subtrees from left to right; two adjacent ones of equal height merge at once."""

    def __init__(self) -> None:
        self._nodes: list[tuple[int, bytes]] = []

    def add(self, level: int, node: bytes) -> None:
        height = level
        while self._nodes and self._nodes[-1][0] == height:
            node = merkle.node_hash(self._nodes.pop()[1], node)
            height += 1
        self._nodes.append((height, node))

    def root(self) -> bytes:
        return merkle.fold_roots([node for _, node in self._nodes])


def find_surrounding_subtrees(
    first: int, end: int, size: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the complete subtrees (level, index) of a tree of `size` left and right of [first, end)."""
    return list(merkle.find_complete_subtrees(0, first)), list(merkle.find_complete_subtrees(end, size))


def _around(header: ArchiveHeader) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    return find_surrounding_subtrees(header.first, header.end, parse_checkpoint(header.checkpoint).size)


def _render_lines(header: ArchiveHeader, entries: Iterable[ArchivedEntry]) -> Iterator[bytes]:
    yield _encode_line(
        {
            "format": FORMAT,
            "log": header.log,
            "first": header.first,
            "end": header.end,
            "checkpoint": header.checkpoint,
            "left": [node.hex() for node in header.left],
            "right": [node.hex() for node in header.right],
        }
    )
    for entry in entries:
        yield _encode_line(
            {
                "seq": entry.seq,
                "envelope": entry.envelope.decode(),
                "salt": None if entry.salt is None else entry.salt.hex(),
                "body": None if entry.body is None else entry.body.decode(),
            }
        )


def _encode_line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _parse_header(value: dict[str, Any]) -> ArchiveHeader:
    if value.get("format") != FORMAT:
        raise ArchiveError(f"it does not begin as an archive ({FORMAT})")
    try:
        left, right = (tuple(bytes.fromhex(node) for node in value[name]) for name in ("left", "right"))
        header = ArchiveHeader(value["log"], value["first"], value["end"], value["checkpoint"], left, right)
    except (KeyError, TypeError, ValueError) as error:
        raise ArchiveError("its header cannot be read") from error
    numbers = type(header.first) is int and type(header.end) is int
    if not numbers or not isinstance(header.checkpoint, str) or not 0 <= header.first < header.end:
        raise ArchiveError("its header names no range")
    return header


def _parse_head(header: ArchiveHeader) -> SignedNote:
    try:
        head = parse_checkpoint(header.checkpoint)
    except ValueError as error:
        raise ArchiveError(f"its signed head cannot be read: {error}") from error
    if head.origin != header.log or head.size < header.end:
        raise ArchiveError("its signed head is of another ledger or range")
    if not is_signed_by_installation(head):
        raise ArchiveError("its signed head is signed by no key of this installation")
    sides = find_surrounding_subtrees(header.first, header.end, head.size)
    if [len(side) for side in sides] != [len(header.left), len(header.right)]:
        raise ArchiveError("its header does not describe the tree around its range")
    return head


def _parse_entry(value: dict[str, Any], seq: int) -> ArchivedEntry:
    """Parse an entry and check its body against the envelope. Raise ArchiveError naming the entry."""
    try:
        salt, body = value["salt"], value["body"]
        entry = ArchivedEntry(
            value["seq"],
            value["envelope"].encode(),
            None if salt is None else bytes.fromhex(salt),
            None if body is None else body.encode(),
        )
        envelope = json.loads(entry.envelope)
        expected_digest = str(envelope["body_digest"])
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ArchiveError(f"entry {seq} cannot be read") from error
    if entry.seq != seq:
        raise ArchiveError(f"entry {seq} is missing")
    if (entry.salt is None) != (entry.body is None):
        raise ArchiveError(f"entry {seq} has half a body")
    if entry.salt is not None and entry.body is not None:
        digest = hashlib.sha256(entry.salt + entry.body).hexdigest()
        if digest != expected_digest:
            raise ArchiveError(f"the body of entry {seq} is not the one that was recorded")
    return entry
