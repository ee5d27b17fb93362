"""Extract what an entry can be found by: paths, commands and ids, from its kind, outcome and body.

Values in, values out, so that the index of an entry can be compared with its sealed body. Bodies are what
agents sent, after masking: any field may have any type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

from controlplane.policy.calls.input_fields import COMMAND_KEYS, LIST_KEYS, PATH_KEYS, URL_KEYS
from traces.models import MAX_TERM_LENGTH, EntryKind, TermKind

MAX_TERMS = 2_000  # of one entry
PATH_FIELDS = ("targets", "offending", "reads", "paths", "path", "file", "more_files")
PATTERN_FIELDS = ("patterns", "requested")  # globs, or plain paths
ITEM_FIELDS = ("conflicts", "findings", "explained")  # lists of objects with a path
ID_FIELDS = ("approval_id", "grant_id", "decision_id", "entry_id", "run_id", "revision_id", "base", "head")
ID_OBJECTS = ("override", "vcs", "rejection")  # objects with such fields
CALL_FIELDS = (*COMMAND_KEYS, "command_line", *URL_KEYS)
WILDCARDS = frozenset("*?[{\\!")
REFUSED_OUTCOMES = frozenset({"ask", "deny"})

Body = Mapping[str, Any]


class IndexTerm(NamedTuple):
    """A text that an entry is found by, and what it is."""

    kind: TermKind
    text: str


def extract_terms(kind: str, body: Body) -> tuple[IndexTerm, ...]:
    """Return the terms of an entry, each once, at most `MAX_TERMS`.

    The files of trace entries are left out: `TraceFile` has them as soon as the entry is there.
    """
    terms = chain(
        () if kind == EntryKind.TRACE else _to_terms(TermKind.PATH, _find_paths(body)),
        _to_terms(TermKind.PATH, _list_texts(body.get("source"))) if kind == EntryKind.IMPORT else (),
        _to_pattern_terms(_find_patterns(body)),
        _to_terms(TermKind.COMMAND, _find_commands(body)),
        _to_terms(TermKind.ID, _find_ids(body)),
    )
    return tuple(islice(dict.fromkeys(terms), MAX_TERMS))


def is_attempt(kind: str, outcome: str) -> bool:
    """Whether an entry records a call that was held or denied, or what became of one."""
    return kind == EntryKind.APPROVAL or (kind == EntryKind.DECISION and outcome in REFUSED_OUTCOMES)


def _to_terms(kind: TermKind, values: Iterable[str]) -> Iterator[IndexTerm]:
    for value in values:
        # Neither database stores a null byte or half of a surrogate pair in text.
        text = value.replace("\0", "").strip()[:MAX_TERM_LENGTH].encode(errors="replace").decode()
        if text:
            yield IndexTerm(kind, text)


def _find_paths(body: Body) -> Iterator[str]:
    found = False
    for text in chain.from_iterable(_list_texts(body.get(name)) for name in PATH_FIELDS):
        found = True
        yield text
    for item in chain.from_iterable(_list_objects(body.get(name)) for name in ITEM_FIELDS):
        yield from _list_texts(item.get("path"))
        yield from _list_texts(item.get("old_path"))
    call = body.get("input")
    if not found and isinstance(call, dict):  # a call whose paths the gate did not resolve
        for name, value in call.items():
            if name in PATH_KEYS or name in LIST_KEYS:
                yield from _list_texts(value)


def _find_patterns(body: Body) -> Iterator[str]:
    for name in PATTERN_FIELDS:
        yield from _list_texts(body.get(name))
    document = body.get("document")
    if isinstance(document, dict):
        yield from _list_texts(document.get("owned_scope"))


def _to_pattern_terms(patterns: Iterable[str]) -> Iterator[IndexTerm]:
    """Return a path for a pattern without wildcards: it names that very file."""
    for pattern in patterns:
        kind = TermKind.PATTERN if WILDCARDS.intersection(pattern) else TermKind.PATH
        yield from _to_terms(kind, [pattern])


def _find_commands(body: Body) -> Iterator[str]:
    yield from _list_texts(body.get("command"))
    call = body.get("input")
    if isinstance(call, dict):
        for name in CALL_FIELDS:
            value = call.get(name)
            if isinstance(value, list):
                yield " ".join(_list_texts(value))  # an argument vector
            else:
                yield from _list_texts(value)


def _find_ids(body: Body) -> Iterator[str]:
    for fields in (body, *(body.get(name) for name in ID_OBJECTS)):
        if isinstance(fields, dict):
            for name in ID_FIELDS:
                yield from _list_texts(fields.get(name))


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _list_objects(value: Any) -> Iterator[Body]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
