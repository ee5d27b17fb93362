"""The `.intentignore` of a workspace: storing it, and saying where a line means something else here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.db import transaction

from controlplane.models import Workspace
from intents import store
from intents.file_format.field_rules import ID_PATTERN
from intents.selectors import list_intent_ids
from traces.ledger.append import NewEntry, append

MAX_BYTES = 256 * 1024
_INTENT_LINE = re.compile(r"[ \t]*intent:[ \t]*(.*?)[ \t\r]*", re.IGNORECASE)


class UnusableTextError(ValueError):
    """The bytes are no text that can be kept."""


@dataclass(frozen=True, slots=True)
class LineWarning:
    line: int
    text: str
    message: str


def decode_text(data: bytes) -> str:
    """Raises UnusableTextError with words for the caller."""
    if len(data) > MAX_BYTES:
        raise UnusableTextError(f"The file is larger than {MAX_BYTES // 1024} KiB.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnusableTextError(f"Line {line} is not UTF-8.") from error
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise UnusableTextError(f"Line {line} holds U+0000.")
    return text


def save(workspace: Workspace, text: str, *, actor: str) -> list[LineWarning]:
    """Keep the text as it is. Without a difference nothing is recorded."""
    with transaction.atomic():
        changed = (
            Workspace.objects.filter(pk=workspace.pk).exclude(intentignore=text).update(intentignore=text)
        )
        if changed:
            body = {"what": "intentignore", "text": text}
            append(
                NewEntry(workspace_id=workspace.pk, kind="policy", body=body, outcome="changed", actor=actor)
            )
            store.bump(workspace.pk)
    workspace.intentignore = text
    return list(find_line_warnings(text, list_intent_ids(workspace.pk)))


def find_line_warnings(text: str, known: Collection[str]) -> Iterator[LineWarning]:
    """Lines that other tools read otherwise: a bare id is a file name here, and excludes no intent."""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        named = _INTENT_LINE.fullmatch(line)
        if named and named[1] not in known:
            message = f"No intent {named[1]!r} is registered."
        elif not named and (bare in known or ID_PATTERN.fullmatch(bare)):
            message = f"This is a file pattern. To keep agents from the intent, write: intent: {bare}"
        else:
            continue
        yield LineWarning(number, bare, message)
