"""Read the log as C2SP tlog-tiles: tiles of hashes, and bundles of entries, which are envelopes only."""

from __future__ import annotations

import re
from dataclasses import dataclass

from traces.ledger import proofs
from traces.ledger.proofs import TILE_BITS, TILE_WIDTH, StoredNodes
from traces.models import LedgerLeaf

ENTRIES = "entries"
MAX_LEVEL = 7  # eight levels of 256 hold more than row ids can number
_PLACE = re.compile(r"(?P<level>entries|\d)/(?P<index>(?:x\d{3}/){0,5}\d{3})(?:\.p/(?P<width>[1-9]\d{0,2}))?")


@dataclass(frozen=True, slots=True)
class TilePlace:
    """Level -1 is that of the entries. `width` is below 256 at the right edge of the tree."""

    level: int
    index: int
    width: int

    @property
    def is_full(self) -> bool:
        return self.width == TILE_WIDTH


def parse_place(path: str) -> TilePlace | None:
    """Parse `<L>/<N>[.p/<W>]`, where N is in groups of three digits: x001/x234/067. Else return None."""
    match = _PLACE.fullmatch(path)
    if match is None:
        return None
    level = -1 if match["level"] == ENTRIES else int(match["level"])
    width = int(match["width"] or TILE_WIDTH)
    index = int(re.sub(r"\D", "", match["index"]))
    if level > MAX_LEVEL or (match["width"] and width >= TILE_WIDTH) or match["index"] != format_index(index):
        return None
    return TilePlace(level, index, width)


def format_index(index: int) -> str:
    digits = f"{index:03d}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    return "/".join([f"x{group}" for group in groups[:-1]] + groups[-1:])


def read_tile(workspace_id: int, place: TilePlace) -> bytes | None:
    """Return the content of a tile or bundle; None where the newest head does not cover all of it."""
    head = proofs.find_head(workspace_id)
    size = (head.size if head else 0) >> TILE_BITS * max(place.level, 0)
    first = place.index * TILE_WIDTH
    if first + place.width > size:
        return None
    if place.level < 0:
        return _read_entries(workspace_id, first, first + place.width)
    hashes = StoredNodes(workspace_id).tile(place.level, place.index)
    return b"".join(hashes[: place.width])


def _read_entries(workspace_id: int, start: int, end: int) -> bytes:
    """Return the envelopes of [start, end), each after its length in two bytes. 1 query."""
    leaves = LedgerLeaf.objects.filter(workspace_id=workspace_id, seq__gte=start, seq__lt=end).order_by("seq")
    envelopes = [bytes(envelope) for envelope in leaves.values_list("entry__envelope", flat=True)]
    return b"".join(len(envelope).to_bytes(2, "big") + envelope for envelope in envelopes)
