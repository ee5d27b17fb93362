"""Render and parse intent_map.md: which files an intent has evolved, and what they define.

Sorted and without times, so that equal maps are equal texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from traces.mutation_class.symbols import Symbol

TITLE = "# Intent Map\n\nMaps business intents to files. Updated when INTENT_EVOLUTION occurs.\n"

_SECTION = re.compile(r"##\s+(?P<id>[^\s:]+)(?::\s*(?P<name>.*))?$")
_SYMBOLS = re.compile(r"(?<=`) \(`.*`\)$")  # as rendered here, behind a path
_CODE = re.compile(r"(`+)(?P<path>.+?)\1")


@dataclass(frozen=True, slots=True)
class IntentSection:
    intent_id: str
    name: str = ""
    paths: tuple[str, ...] = ()
    symbols: Mapping[str, Sequence[Symbol]] = field(default_factory=dict)


def render_intent_map(sections: Iterable[IntentSection]) -> str:
    """Render Markdown, sections by id and paths in order."""
    parts = [TITLE]
    for section in sorted(sections, key=lambda section: section.intent_id):
        name = " ".join(section.name.split())
        parts.append(f"\n## {section.intent_id}{f': {name}' if name else ''}\n\n")
        parts += [
            f"- {_quote_code(path)}{_render_symbols(section.symbols.get(path, ()))}\n"
            for path in sorted(set(section.paths))
        ]
    return "".join(parts)


def _render_symbols(symbols: Sequence[Symbol]) -> str:
    """Return functions and classes in the order of the file; methods are left to the JSON."""
    names = dict.fromkeys(symbol.name for symbol in symbols if symbol.kind != "method")
    return f" ({', '.join(map(_quote_code, names))})" if names else ""


def parse_intent_map(text: str) -> list[IntentSection]:
    """Parse sections, and the back-quoted paths of list and table rows below their headings."""
    sections: list[IntentSection] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        heading = _SECTION.match(line.strip())
        if heading:
            sections.append(IntentSection(heading["id"], (heading["name"] or "").strip()))
        elif sections and line.strip().startswith(("-", "*", "+", "|")):
            without_symbols = _SYMBOLS.sub("", line)
            paths = tuple(code["path"].strip() for code in _CODE.finditer(without_symbols))
            sections[-1] = IntentSection(
                sections[-1].intent_id, sections[-1].name, sections[-1].paths + paths
            )
    return sections


def _quote_code(text: str) -> str:
    """Return Markdown code; a text that contains back-quotes gets a longer fence."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"
