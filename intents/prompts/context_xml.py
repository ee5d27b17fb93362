"""Render the `<intent_context>` of prompts.

Every text in it is untrusted: ElementTree escapes markup, and no text can close an element of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as ET  # builds only; nothing is parsed here

from intents.evidence.records import map_records
from intents.file_format.values import IntentValues

_NOT_XML = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One event under the intent. `at` is ISO 8601."""

    at: str
    summary: str
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class FileState:
    """The newest known state of a file that the intent changed. `intent_id` made the last change."""

    path: str
    content_hash: str
    last_changed: str
    intent_id: str


@dataclass(frozen=True, slots=True)
class LessonNote:
    """`section` is lesson, decision or constraint; `source` is session, approval, person, import or api."""

    date: str
    file: str
    text: str
    section: str = "lesson"
    source: str = "session"


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a prompt adds to the intent itself. `left_out` counts relevant lessons that do not fit."""

    history: Sequence[HistoryItem] = ()
    files: Sequence[FileState] = ()
    lessons: Sequence[LessonNote] = field(default_factory=tuple)
    left_out: int = 0


def render_intent_xml(intent: IntentValues, context: PromptContext) -> str:
    root = ET.Element("intent_context", {"intent_id": _clean(intent.intent_id)})
    _add(root, "name", intent.name or intent.intent_id)
    _add(root, "status", intent.status.value)
    if intent.description:
        _add(root, "description", intent.description)
    _add_list(root, "owned_scope", "pattern", intent.owned_scope)
    _add_list(root, "constraints", "constraint", intent.constraints)
    _add_elements(root, "acceptance_criteria", "criterion", _list_criteria(intent))
    if intent.allowed_commands:
        _add_list(root, "allowed_commands", "command", intent.allowed_commands)
    _add_list(root, "references", "reference", intent.references)
    _add_elements(root, "recent_history", "entry", [_history_entry(item) for item in context.history])
    _add_elements(root, "files", "file", [_file_entry(item) for item in context.files])
    lessons = _add_elements(root, "lessons", "lesson", [_lesson_entry(item) for item in context.lessons])
    if context.left_out:
        lessons.set("left_out", str(context.left_out))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", short_empty_elements=False)


def _list_criteria(intent: IntentValues) -> list[tuple[dict[str, str], str]]:
    """Return each criterion; one that somebody has claimed, with its status."""
    records = map_records(intent.acceptance_evidence)
    return [
        ({"status": records[text]["status"]} if text in records else {}, text)
        for text in intent.acceptance_criteria
    ]


def _history_entry(item: HistoryItem) -> tuple[dict[str, str], str]:
    session = {"session_id": item.session_id} if item.session_id else {}
    return {"at": item.at, **session}, item.summary


def _file_entry(item: FileState) -> tuple[dict[str, str], str]:
    attributes = {
        "path": item.path,
        "content_hash": item.content_hash,
        "last_changed": item.last_changed,
        "intent_id": item.intent_id,
    }
    return attributes, ""


def _lesson_entry(item: LessonNote) -> tuple[dict[str, str], str]:
    attributes = {"section": item.section, "date": item.date, "file": item.file, "source": item.source}
    return attributes, item.text


def _add_list(parent: ET.Element, name: str, item_name: str, items: Iterable[Any]) -> None:
    child = ET.SubElement(parent, name)
    for item in items:
        if isinstance(item, Mapping):
            rest = {key: value for key, value in item.items() if key != "type"}
            kind = {"type": _clean(str(item["type"]))} if "type" in item else {}
            _add(child, item_name, json.dumps(rest, ensure_ascii=False), kind)
        else:
            _add(child, item_name, str(item))


def _add_elements(
    parent: ET.Element, name: str, item_name: str, items: Iterable[tuple[Mapping[str, str], str]]
) -> ET.Element:
    """Add one element per pair of attributes and text."""
    child = ET.SubElement(parent, name)
    for attributes, text in items:
        _add(child, item_name, text, {key: _clean(value) for key, value in attributes.items()})
    return child


def _add(parent: ET.Element, name: str, text: str, attributes: Mapping[str, str] | None = None) -> None:
    child = ET.SubElement(parent, name, dict(attributes or {}))
    child.text = _clean(text)


def _clean(text: str) -> str:
    # XML 1.0 cannot hold these characters, not even escaped, and ElementTree writes them all the same.
    return _NOT_XML.sub("", text)
