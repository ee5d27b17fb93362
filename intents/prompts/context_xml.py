"""The `<intent_context>` that an agent is handed. Values in, text out; everything in it is hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as ET  # builds only; nothing is parsed here

from intents.file_format.values import IntentValues

_NOT_XML = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One thing that happened under the intent. `at` is ISO 8601."""

    at: str
    summary: str
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file that was changed under the intent, as it is known now. `intent_id` made the last change."""

    path: str
    content_hash: str
    last_changed: str
    intent_id: str


@dataclass(frozen=True, slots=True)
class LessonNote:
    """`section` is lesson, decision or constraint; `source` says who told: session, approval, person, …"""

    date: str
    file: str
    text: str
    section: str = "lesson"
    source: str = "session"


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What an agent should know beside the intent itself. So many relevant lessons more were `left_out`."""

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
    _add_list(root, "acceptance_criteria", "criterion", intent.acceptance_criteria)
    _add_list(root, "references", "reference", intent.references)
    _add_facts(root, "recent_history", "entry", [_history_facts(item) for item in context.history])
    _add_facts(root, "files", "file", [_file_facts(item) for item in context.files])
    learned = _add_facts(root, "lessons", "lesson", [_lesson_facts(item) for item in context.lessons])
    if context.left_out:
        learned.set("left_out", str(context.left_out))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", short_empty_elements=False)


def _history_facts(item: HistoryItem) -> tuple[dict[str, str], str]:
    session = {"session_id": item.session_id} if item.session_id else {}
    return {"at": item.at, **session}, item.summary


def _file_facts(item: FileState) -> tuple[dict[str, str], str]:
    facts = {
        "path": item.path,
        "content_hash": item.content_hash,
        "last_changed": item.last_changed,
        "intent_id": item.intent_id,
    }
    return facts, ""


def _lesson_facts(item: LessonNote) -> tuple[dict[str, str], str]:
    facts = {"section": item.section, "date": item.date, "file": item.file, "source": item.source}
    return facts, item.text


def _add_list(parent: ET.Element, name: str, each: str, items: Iterable[Any]) -> None:
    child = ET.SubElement(parent, name)
    for item in items:
        if isinstance(item, Mapping):
            rest = {key: value for key, value in item.items() if key != "type"}
            kind = {"type": _clean(str(item["type"]))} if "type" in item else {}
            _add(child, each, json.dumps(rest, ensure_ascii=False), kind)
        else:
            _add(child, each, str(item))


def _add_facts(
    parent: ET.Element, name: str, each: str, items: Iterable[tuple[Mapping[str, str], str]]
) -> ET.Element:
    child = ET.SubElement(parent, name)
    for facts, text in items:
        _add(child, each, text, {key: _clean(value) for key, value in facts.items()})
    return child


def _add(parent: ET.Element, name: str, text: str, facts: Mapping[str, str] | None = None) -> None:
    child = ET.SubElement(parent, name, dict(facts or {}))
    child.text = _clean(text)


def _clean(text: str) -> str:
    """XML 1.0 has no form for these characters, not even an escaped one."""
    return _NOT_XML.sub("", text)
