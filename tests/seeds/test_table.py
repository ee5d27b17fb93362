"""`docs/requirements.md` is made from the names of these tests: `python -m tests.seeds.test_table`."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "requirements.md"
DOCUMENTS = {
    "1": "The handshake",
    "2": "Reading before the handshake",
    "3": "The files of the orchestration folder",
    "4": "The hook engine",
    "5": "Clients, protocol and registry",
}
SYSTEMS = (
    "Refusal of unknown, malformed and closed intents", "Context of the handshake", "Block before the handshake",
    "One intent for a session's life", "One session for an intent", "Owned scope", "Governance section of prompts",
    "Tools by state", "Preflight", "Registry file missing or corrupt", "Empty registry", "Safe tools", "Tool classes",
    "Completion without an intent", "States of a session", "Registry file in and out", "Validation of the registry",
    "Life of an intent", "Trace entries", "Traces of every writing tool", "Refactoring or evolution", "Intent map",
    "AGENT.md", ".intentignore", "Stale files", "Error payloads", "Approvals", "Scope expansion", "History",
    "Archive", "Native tools of the handshake", "Machine-checked constraints", "Work on several intents",
    "Failing hooks", "Pages and admin for intents", "Gate over REST", "Live push", "Session and trace pages",
    "Map page", "Completion with evidence",
)  # fmt: skip
NAME = re.compile(r"test_seed(\d)_(\w+?)__(\w+)")
HEAD = """# Requirements and the tests that show them

Each requirement of the customer's documents that has a test against a served product, through the hooks of the clients and through
REST. Made from the names of the tests in `tests/seeds`: `python -m tests.seeds.test_table > docs/requirements.md`.
"""


@dataclass(frozen=True)
class Requirement:
    document: str
    id: str
    sentence: str
    test: str
    systems: tuple[int, ...]


def list_requirements() -> list[Requirement]:
    """Return what every test shows, in the order of the documents."""
    found = []
    for file in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef) and (match := NAME.fullmatch(node.name)):
                requirement = match[2].upper().replace("_", "-")
                where, systems = f"{file.name}::{node.name}", tuple(_read_systems(node))
                sentence = match[3].replace("_", " ")
                found.append(Requirement(match[1], requirement, sentence, where, systems))
    return sorted(found, key=lambda one: (one.document, one.test.split("::")[0], one.id))


def _read_systems(node: ast.FunctionDef) -> Iterator[int]:
    """Yield the numbers of `@pytest.mark.systems(…)`."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.systems":
            yield from map(ast.literal_eval, decorator.args)


def render() -> str:
    requirements, parts, last = list_requirements(), [HEAD], ""
    for one in requirements:
        if one.document != last:
            head = f"## {one.document}. {DOCUMENTS[one.document]}"
            parts.append(f"{head}\n\n| id | what holds | test |\n|---|---|---|")
            last = one.document
        parts.append(f"| {one.id} | {one.sentence} | `{one.test}` |")
    parts.append("\n## The systems\n\n| # | system | shown by |\n|---|---|---|")
    for number, name in enumerate(SYSTEMS, 1):
        shown = [f"{one.document} {one.id}" for one in requirements if number in one.systems]
        parts.append(f"| {number} | {name} | {', '.join(shown)} |")
    return "\n".join(parts) + "\n"


def test_the_page_names_every_test():
    assert PAGE.read_text() == render()


def test_every_system_has_a_test():
    shown = {number for one in list_requirements() for number in one.systems}
    assert shown == set(range(1, 41))


if __name__ == "__main__":
    sys.stdout.write(render())
