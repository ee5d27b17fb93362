"""The client is served as one file: its modules share one namespace, so no two may define the same name."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from controlplane.shared.client_download import build_client, build_runs_program


def list_definitions(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        targets = node.targets if isinstance(node, ast.Assign) else []
        yield from (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))


@pytest.mark.parametrize("build", [build_client, build_runs_program])
def test_no_module_overwrites_a_name_of_another(build: Callable[[], str]) -> None:
    counts = Counter(list_definitions(build()))
    assert {name for name, count in counts.items() if count > 1} <= {"TYPE_CHECKING"}
