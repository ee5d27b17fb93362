"""Store a workspace's `.intentignore` and warn of lines that mean something else in other tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.db import transaction

from controlplane.models import Workspace
from intents.errors import InvalidIntentignoreError
from intents.file_format.field_rules import ID_PATTERN
from intents.selectors import list_intent_ids
from traces.ledger.append import NewEntry, append

MAX_BYTES = 256 * 1024
_INTENT_LINE = re.compile(r"[ \t]*intent:[ \t]*(.*?)[ \t\r]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LineWarning:
    line: int
    text: str
    message: str


def decode_text(data: bytes) -> str:
    """Decode UTF-8. Raises InvalidIntentignoreError for other bytes, U+0000 and files that are too large."""
    if len(data) > MAX_BYTES:
        raise InvalidIntentignoreError(f"The file is larger than {MAX_BYTES // 1024} KiB.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidIntentignoreError(f"Line {line} is not UTF-8.") from error
    if "\x00" in text:  # PostgreSQL cannot store it
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise InvalidIntentignoreError(f"Line {line} holds U+0000.")
    return text


def save_intentignore(workspace: Workspace, text: str, *, actor: str) -> list[LineWarning]:
    """Store the text unchanged and return its warnings. An equal text is not recorded."""
    with transaction.atomic():
        locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
        if locked.intentignore != text:
            body = {"what": "intentignore", "text": text}
            append(
                NewEntry(workspace_id=workspace.pk, kind="policy", body=body, outcome="changed", actor=actor)
            )
            Workspace.objects.filter(pk=workspace.pk).apply_change(intentignore=text)
    workspace.intentignore = text
    return list(find_line_warnings(text, list_intent_ids(workspace.pk)))


def find_line_warnings(text: str, intent_ids: Collection[str]) -> Iterator[LineWarning]:
    """Find lines that other tools read differently: a bare id is a file pattern and excludes no intent."""
    for number, line in enumerate(text.split("\n"), 1):
        pattern = line.strip()
        intent_line = _INTENT_LINE.fullmatch(line)
        if intent_line and intent_line[1] not in intent_ids:
            message = f"No intent {intent_line[1]!r} is registered."
        elif not intent_line and (pattern in intent_ids or ID_PATTERN.fullmatch(pattern)):
            message = f"This is a file pattern. To keep agents from the intent, write: intent: {pattern}"
        else:
            continue
        yield LineWarning(number, pattern, message)
