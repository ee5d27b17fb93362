"""`docs/requirements.md` is made from the names of these tests: `python -m tests.seeds.test_table`."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
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
NAME = re.compile(r"test_seed(\d)_(\w+?)__(\w+)")
HEAD = """# Requirements and the tests that show them

Each requirement of the customer's documents that has a test against a served product, through the hooks of the clients and through
REST. Made from the names of the tests in `tests/seeds`: `python -m tests.seeds.test_table > docs/requirements.md`.
"""


def list_requirements() -> Iterator[tuple[str, str, str, str]]:
    """Yield (document, id, sentence, where) of every test, in the order of the documents."""
    rows = []
    for file in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef) and (match := NAME.fullmatch(node.name)):
                requirement = match[2].upper().replace("_", "-")
                rows.append((match[1], requirement, match[3].replace("_", " "), f"{file.name}::{node.name}"))
    yield from sorted(rows, key=lambda row: (row[0], row[3].split("::")[0], row[1]))


def render() -> str:
    parts, last = [HEAD], ""
    for document, requirement, sentence, where in list_requirements():
        if document != last:
            parts.append(f"## {document}. {DOCUMENTS[document]}\n\n| id | what holds | test |\n|---|---|---|")
            last = document
        parts.append(f"| {requirement} | {sentence} | `{where}` |")
    return "\n".join(parts) + "\n"


def test_the_page_names_every_test():
    assert PAGE.read_text() == render()


if __name__ == "__main__":
    sys.stdout.write(render())
