"""Archive old entries: write them to a signed file, then delete their bodies from the database.

Entries, their positions and all hashes stay, so proofs and verification still work. Nothing is deleted before
the file has been read back and compared with the ledger. A process that dies in between loses nothing:
the next run continues from what it finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from traces.archives.archive_format import (
    ArchivedEntry,
    ArchiveError,
    ArchiveHeader,
    ArchiveReader,
    compute_file_digest,
    draft_path,
    find_surrounding_subtrees,
    publish_draft,
    write_archive,
)
from traces.entries.excerpts import save_excerpts
from traces.ledger import proofs
from traces.ledger.append import NewEntry, append
from traces.ledger.archive_seal import ArchiveSeal
from traces.ledger.checkpoints import parse_checkpoint
from traces.ledger.insert_rows import insert_rows
from traces.ledger.log_name import is_log_name
from traces.ledger.proofs import TILE_WIDTH
from traces.ledger.redaction import list_redacted_ids
from traces.ledger.sealing import seal
from traces.models import (
    ARCHIVABLE_KINDS,
    Checkpoint,
    EntryKind,
    LedgerArchive,
    LedgerBody,
    LedgerEntry,
    LedgerLeaf,
)

SUFFIX = ".jsonl.gz"


@dataclass(frozen=True, slots=True)
class ArchiveCheck:
    """A verified archive. `redacted_since` counts bodies in it that were redacted after it was written."""

    seal: ArchiveSeal
    bodies: int
    redacted_since: int


def count_entries_before(workspace_id: int, time: datetime) -> int:
    """Count the entries, from the first, that were all received before `time`. 2 queries."""
    newer = LedgerLeaf.objects.filter(workspace_id=workspace_id, entry__received_at__gte=time)
    first = newer.order_by("seq").values_list("seq", flat=True).first()
    newest = proofs.find_head(workspace_id)
    return first if first is not None else newest.size if newest else 0


def create_archive(
    workspace_id: int, slug: str, end: int, directory: Path, *, actor: str
) -> LedgerArchive | None:
    """Write what is not archived yet, in full tiles up to `end` entries, to a new file in `directory`.

    Full tiles, so that archives of a growing ledger, made often, do not become many small ones.
    """
    end = min(end, seal(workspace_id).size) // TILE_WIDTH * TILE_WIDTH
    return create_exact_archive(workspace_id, slug, end, directory, actor=actor)


def create_exact_archive(
    workspace_id: int, slug: str, end: int, directory: Path, *, actor: str
) -> LedgerArchive | None:
    """Write what is not archived yet, up to `end` entries, to a new file in `directory`.

    Return None where nothing is left to archive. Reuse the file of an interrupted run.
    Raise ArchiveError where the ledger itself does not verify, and OSError.
    """
    first, end = _find_archived_end(workspace_id), min(end, seal(workspace_id).size)
    if end <= first:
        return None
    path = directory / f"{slug}-ledger-{first}-{end - 1}{SUFFIX}"
    header = _build_header(workspace_id, first, end)
    check = _write_and_check(path, header, _read_entries(workspace_id, first, end), workspace_id)
    return _register(workspace_id, path, check, (first, end), actor)


def check_archive(path: Path, workspace_id: int) -> ArchiveCheck:
    """Read an archive to its end and compare each entry with the ledger. Raise ArchiveError, OSError.

    2 queries per tile.
    """
    redacted = list_redacted_ids(workspace_id)
    bodies = redacted_since = 0
    with ArchiveReader(path) as reader:
        if not is_log_name(reader.header.log, workspace_id):
            raise ArchiveError(f"it is of another ledger, {reader.header.log}")
        for tile in _group_by_tile(reader):
            for archived, entry in zip(tile, _match_entries(workspace_id, tile), strict=True):
                if archived.body is None and entry.pk not in redacted:
                    raise ArchiveError(f"entry {archived.seq} has no body, and no redaction names it")
                bodies += archived.body is not None
                redacted_since += archived.body is not None and entry.pk in redacted
        assert reader.seal is not None  # it came to its end
        return ArchiveCheck(reader.seal, bodies, redacted_since)


def release_bodies(archive: LedgerArchive, path: Path, *, actor: str) -> int:
    """Delete the bodies that an archive holds, tile by tile. Return how many. Raise ArchiveError, OSError.

    The complete file is verified first. Kinds that the workspace still queries stay: see `ARCHIVABLE_KINDS`.
    """
    if compute_file_digest(path) != bytes(archive.digest):
        raise ArchiveError("it is not the file that the ledger names")
    check_archive(path, archive.workspace_id)
    deleted = 0
    for at in range(archive.first_seq, archive.end_seq, TILE_WIDTH):
        deleted += _release_tile(archive, at)
    if deleted:
        _record(archive, "released", actor, bodies=deleted)
    return deleted


def restore_bodies(path: Path, workspace_id: int, *, actor: str) -> int:
    """Insert the missing bodies of an archive, except redacted ones. Return how many.

    The complete file is verified first. Raise ArchiveError, OSError.
    """
    check = check_archive(path, workspace_id)
    with ArchiveReader(path) as reader:
        restored = sum(_restore_tile(workspace_id, tile) for tile in _group_by_tile(reader))
    if restored:
        registered = LedgerArchive.objects.filter(
            workspace_id=workspace_id, digest=compute_file_digest(path)
        ).first()
        archive = registered or LedgerArchive(
            workspace_id=workspace_id, first_seq=check.seal.first, end_seq=check.seal.end, name=path.name
        )
        _record(archive, "restored", actor, bodies=restored)
    return restored


def rewrite_archive(archive: LedgerArchive, path: Path, *, actor: str) -> LedgerArchive | None:
    """Rewrite an archive, next to the old file, without the bodies that were redacted since.

    Return None where there are none. Deleting the old file is up to the caller. Raise ArchiveError, OSError.
    """
    workspace_id = archive.workspace_id
    if not check_archive(path, workspace_id).redacted_since:
        return None
    number = LedgerArchive.objects.filter(workspace_id=workspace_id, first_seq=archive.first_seq).count() + 1
    stem = path.name.removesuffix(SUFFIX).partition(".")[0]
    new_path = path.with_name(f"{stem}.{number}{SUFFIX}")
    with ArchiveReader(path) as reader:
        entries = _without_redacted_bodies(reader, workspace_id, list_redacted_ids(workspace_id))
        check = _write_and_check(new_path, reader.header, entries, workspace_id)
    return _register(workspace_id, new_path, check, (archive.first_seq, archive.end_seq), actor)


def _without_redacted_bodies(
    reader: ArchiveReader, workspace_id: int, redacted: set[int]
) -> Iterator[ArchivedEntry]:
    for tile in _group_by_tile(reader):
        for archived, entry in zip(tile, _match_entries(workspace_id, tile), strict=True):
            yield replace(archived, salt=None, body=None) if entry.pk in redacted else archived


def list_unreleased_archives(workspace_id: int) -> list[LedgerArchive]:
    """Return the archives whose bodies are still in the database, by range. 1 query, and 1 for each."""
    archives = list_newest_archives(workspace_id)
    return [
        archive
        for archive in archives
        if _releasable_bodies(archive, archive.first_seq, archive.end_seq).exists()
    ]


def _write_and_check(
    path: Path, header: ArchiveHeader, entries: Iterable[ArchivedEntry], workspace_id: int
) -> ArchiveCheck:
    """Write a draft, verify it and rename it to `path`. Verify an existing file instead."""
    if not path.exists():
        draft = draft_path(path)
        try:
            write_archive(draft, header, entries)
            check = check_archive(draft, workspace_id)
            if publish_draft(draft, path):
                return check
        except ArchiveError:
            # Another run may have finished and deleted the bodies that this one was reading.
            if not path.exists():
                raise
        finally:
            draft.unlink(missing_ok=True)
    return check_archive(path, workspace_id)


def list_newest_archives(workspace_id: int) -> list[LedgerArchive]:
    """Return the archives by range; of several with the same range, the newest. 1 query."""
    archives = LedgerArchive.objects.filter(workspace_id=workspace_id).order_by("pk")
    newest = {(archive.first_seq, archive.end_seq): archive for archive in archives}
    return [newest[key] for key in sorted(newest)]


def _find_archived_end(workspace_id: int) -> int:
    archives = LedgerArchive.objects.filter(workspace_id=workspace_id)
    return archives.aggregate(end=Max("end_seq"))["end"] or 0


def _build_header(workspace_id: int, first: int, end: int) -> ArchiveHeader:
    """Use the first signed head that covers the range, so that the same range makes the same file."""
    heads = Checkpoint.objects.filter(workspace_id=workspace_id, size__gte=end)
    head = heads.order_by("size").first()
    assert head is not None  # the caller sealed, and asks for no more than that
    nodes = proofs.StoredNodes(workspace_id)
    nodes.prefetch([(0, first), (end, head.size)])
    left, right = (
        tuple(nodes(*node) for node in side) for side in find_surrounding_subtrees(first, end, head.size)
    )
    return ArchiveHeader(parse_checkpoint(head.note).origin, first, end, head.note, left, right)


def _read_entries(workspace_id: int, first: int, end: int) -> Iterator[ArchivedEntry]:
    for at in range(first, end, TILE_WIDTH):
        leaves = LedgerLeaf.objects.filter(
            workspace_id=workspace_id, seq__gte=at, seq__lt=min(at + TILE_WIDTH, end)
        )
        for leaf in leaves.select_related("entry__body").order_by("seq"):
            stored = getattr(leaf.entry, "body", None)
            salt, body = (bytes(stored.salt), bytes(stored.body)) if stored else (None, None)
            yield ArchivedEntry(leaf.seq, bytes(leaf.entry.envelope), salt, body)


def _group_by_tile(reader: ArchiveReader) -> Iterator[list[ArchivedEntry]]:
    tile: list[ArchivedEntry] = []
    for archived in reader.entries():
        tile.append(archived)
        if len(tile) == TILE_WIDTH:
            yield tile
            tile = []
    if tile:
        yield tile


def _match_entries(workspace_id: int, tile: Sequence[ArchivedEntry]) -> list[LedgerEntry]:
    """Return the ledger's entries at these positions, in order. Raise ArchiveError where one differs."""
    leaves = LedgerLeaf.objects.filter(
        workspace_id=workspace_id, seq__gte=tile[0].seq, seq__lte=tile[-1].seq
    ).order_by("seq")
    rows = dict(leaves.values_list("seq", "entry_id"))
    entries = LedgerEntry.objects.only("pk", "kind", "envelope", "body_digest").in_bulk(rows.values())
    for archived in tile:
        entry = entries.get(rows.get(archived.seq, 0))
        if entry is None or bytes(entry.envelope) != archived.envelope:
            raise ArchiveError(f"entry {archived.seq} is another one in the ledger")
    return [entries[rows[archived.seq]] for archived in tile]


def _register(
    workspace_id: int, path: Path, check: ArchiveCheck, expected: tuple[int, int], actor: str
) -> LedgerArchive:
    """Return the row of a verified file. Concurrent runs register the same file once."""
    if (check.seal.first, check.seal.end) != expected:
        raise ArchiveError(f"{path.name} exists and holds another range")
    with transaction.atomic():
        archive, created = LedgerArchive.objects.get_or_create(
            workspace_id=workspace_id,
            digest=compute_file_digest(path),
            defaults={
                "first_seq": check.seal.first,
                "end_seq": check.seal.end,
                "name": path.name,
                "size_bytes": path.stat().st_size,
                "note": check.seal.note,
                "created_at": timezone.now(),
            },
        )
        if created:
            _record(archive, "archived", actor, bodies=check.bodies)
    return archive


def _record(archive: LedgerArchive, outcome: str, actor: str, *, bodies: int) -> None:
    body = {
        "archive": archive.name,
        "first": archive.first_seq,
        "end": archive.end_seq,
        "sha256": bytes(archive.digest).hex(),
        "bodies": bodies,
    }
    entry = NewEntry(archive.workspace_id, EntryKind.POLICY, body, outcome=outcome, actor=actor)
    with transaction.atomic():
        append(entry)


def _releasable_bodies(archive: LedgerArchive, first: int, end: int) -> QuerySet[LedgerBody]:
    return LedgerBody.objects.filter(
        entry__kind__in=ARCHIVABLE_KINDS,
        entry__leaf__workspace_id=archive.workspace_id,
        entry__leaf__seq__gte=first,
        entry__leaf__seq__lt=end,
    )


def _release_tile(archive: LedgerArchive, at: int) -> int:
    """Delete one tile's bodies in a transaction of its own: writers wait for one tile at most."""
    end = min(at + TILE_WIDTH, archive.end_seq)
    with transaction.atomic():
        # Concurrent releases queue here; without the lock their deletions could deadlock.
        LedgerArchive.objects.select_for_update().get(pk=archive.pk)
        released = _releasable_bodies(archive, at, end)
        save_excerpts(LedgerEntry.objects.filter(body__in=released).with_body())
        deleted, _ = released.delete()
    return deleted


def _restore_tile(workspace_id: int, tile: Sequence[ArchivedEntry]) -> int:
    """Insert the missing bodies of a tile, with its entries locked against redaction."""
    with transaction.atomic():
        entries = _match_entries(workspace_id, tile)
        rows = [entry.pk for entry in entries]
        list(LedgerEntry.objects.select_for_update().filter(pk__in=rows).order_by("pk").values_list("pk"))
        redacted = list_redacted_ids(workspace_id)
        found = set(LedgerBody.objects.filter(pk__in=rows).values_list("pk", flat=True))
        missing = [
            {"entry_id": entry.pk, "salt": archived.salt, "body": archived.body}
            for archived, entry in zip(tile, entries, strict=True)
            if archived.body is not None and entry.pk not in redacted | found
        ]
        insert_rows(LedgerBody, missing)
    return len(missing)
