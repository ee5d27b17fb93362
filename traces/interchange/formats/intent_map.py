"""Render and parse intent_map.md: which files an intent has evolved.

Sorted and without times, so that equal maps are equal texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

TITLE = "# Intent Map\n\nMaps business intents to files. Updated when INTENT_EVOLUTION occurs.\n"

_SECTION = re.compile(r"##\s+(?P<id>[^\s:]+)(?::\s*(?P<name>.*))?$")
_CODE = re.compile(r"(`+)(?P<path>.+?)\1")


@dataclass(frozen=True, slots=True)
class IntentSection:
    intent_id: str
    name: str = ""
    paths: tuple[str, ...] = ()


def render_intent_map(sections: Iterable[IntentSection]) -> str:
    """Render Markdown, sections by id and paths in order."""
    parts = [TITLE]
    for section in sorted(sections, key=lambda section: section.intent_id):
        name = " ".join(section.name.split())
        parts.append(f"\n## {section.intent_id}{f': {name}' if name else ''}\n\n")
        parts += [f"- {_quote_path(path)}\n" for path in sorted(set(section.paths))]
    return "".join(parts)


def parse_intent_map(text: str) -> list[IntentSection]:
    """Parse sections, and the back-quoted paths of list and table rows below their headings."""
    sections: list[IntentSection] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        heading = _SECTION.match(line.strip())
        if heading:
            sections.append(IntentSection(heading["id"], (heading["name"] or "").strip()))
        elif sections and line.strip().startswith(("-", "*", "+", "|")):
            paths = tuple(code["path"].strip() for code in _CODE.finditer(line))
            sections[-1] = IntentSection(
                sections[-1].intent_id, sections[-1].name, sections[-1].paths + paths
            )
    return sections


def _quote_path(path: str) -> str:
    """Return Markdown code; a path that contains back-quotes gets a longer fence."""
    longest = max((len(run) for run in re.findall("`+", path)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{path}{space}{fence}"
