"""Convert git-ai notes (`refs/notes/ai`, authorship logs up to 3.0.0) into entries, one per commit.

A note has attestation lines, `---`, and a JSON object:

    src/a.ts
      s_0123456789abcd::t_0123456789abcd 1-4,9
      h_0123456789abcd 5
    ---
    {"schema_version": "authorship/3.0.0", "sessions": {"s_…": {"agent_id": {"tool", "id", "model"}}}, …}

Ranges, sessions and models come from the note, the time from the commit; a commit that is not in the
repository (squashed, rebased) has none, and its entry says `"absent": true`. A note has no hashes and no
mutation classes, so these are omitted. The complete note is stored under `original`, of a large one its
SHA-256.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from traces.entry_schema import INTENT_TYPE
from traces.ledger import canonical_json

FORMAT = "git-ai"
DIVIDER = "\n---\n"
UNKNOWN_TIME = "1970-01-01T00:00:00Z"
MAX_ORIGINAL = 256 * 1024  # characters of a note that is stored with its entry
_AGENT_KEY = re.compile(r"(?:[st]_)?[0-9a-f-]{6,64}(?:::t_[0-9a-f]{6,64})?|ai\b.*|ai_.*", re.IGNORECASE)
_PERSON_KEY = re.compile(r"h_[0-9a-f]{6,64}|human", re.IGNORECASE)
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")

Object = dict[str, Any]


@dataclass(slots=True)
class _AttestedFile:
    path: str
    claims: list[tuple[str, list[Object]]] = field(default_factory=list)


def to_entry(note: str, commit: str, committed_at: str | None) -> Object:
    """Convert a note; `committed_at` is None for a commit that is not there. Raises ValueError."""
    attestation, divider, metadata_text = f"\n{note}".partition(DIVIDER)
    if not divider:
        raise ValueError("there is no line --- between attestation and metadata")
    metadata = canonical_json.parse(metadata_text)
    if not isinstance(metadata, dict):
        raise ValueError("its metadata must be a JSON object")  # noqa: TRY004 - the note is wrong, not a type
    return {
        "id": f"{FORMAT}-{commit}" if committed_at else f"{FORMAT}-absent-{commit}",
        "timestamp": committed_at or UNKNOWN_TIME,
        "vcs": {"type": "git", "revision_id": commit} | ({} if committed_at else {"absent": True}),
        "tool": {"name": FORMAT},
        "files": [
            {
                "relative_path": file.path,
                "conversations": [_build_conversation(key, ranges, metadata) for key, ranges in file.claims],
            }
            for file in _parse_attestation(attestation)
        ],
        "original": {"format": FORMAT, "commit": commit, **_describe_note(note)},
    }


def _describe_note(note: str) -> Object:
    if len(note) <= MAX_ORIGINAL:
        return {"note": note}
    return {"note_sha256": hashlib.sha256(note.encode()).hexdigest(), "note_characters": len(note)}


def _parse_attestation(attestation: str) -> Iterator[_AttestedFile]:
    file: _AttestedFile | None = None
    for line in attestation.split("\n"):
        if not line.strip():
            continue
        if not line.startswith("  "):
            if file:
                yield file
            file = _AttestedFile(_unquote_path(line))
        elif file is None:
            raise ValueError("a claim comes before the first file")
        else:
            file.claims.append(_parse_claim(line.strip()))
    if file:
        yield file


def _unquote_path(line: str) -> str:
    return line[1:-1] if len(line) > 1 and line[0] == line[-1] == '"' else line


def _parse_claim(line: str) -> tuple[str, list[Object]]:
    key, _, ranges_text = line.rpartition(" ")  # a person's name may have spaces
    matches = [_RANGE.fullmatch(item) for item in ranges_text.strip().split(",")]
    if not key.strip() or not key.isprintable() or not all(matches):
        raise ValueError(f"{line[:80]!r} is not a claim of lines")
    return key, [
        {"start_line": int(match[1]), "end_line": int(match[2] or match[1])}
        for match in matches
        if match is not None
    ]


def _build_conversation(key: str, ranges: list[Object], metadata: Object) -> Object:
    """Build the conversation of a claim: an agent's session or prompt, or a person known to the note."""
    session = key.partition("::")[0]
    if _PERSON_KEY.fullmatch(session) or session in _get_object(metadata, "humans"):
        return {"url": "", "contributor": {"entity_type": "HUMAN"}, "ranges": ranges}
    details = _get_object(_get_object(metadata, "sessions"), session) or _get_object(
        _get_object(metadata, "prompts"), session
    )
    if not details and not _AGENT_KEY.fullmatch(key):
        return {"url": "", "contributor": {"entity_type": "UNKNOWN"}, "ranges": ranges}
    agent = _get_object(details, "agent_id")
    intent = _get_object(details, "custom_attributes").get("intent_id")
    conversation = {
        "url": _text_or_empty(agent.get("id")) or session,
        "contributor": {"entity_type": "AI", "model_identifier": _text_or_empty(agent.get("model")) or None},
        "ranges": ranges,
    }
    return conversation | (
        {"related": [{"type": INTENT_TYPE, "value": intent}]} if _text_or_empty(intent) else {}
    )


def _get_object(parent: Object, name: str) -> Object:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""
