"""The structure that keeps the code readable: sizes, folders, names, layers. Part of `make check`."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("controlplane", "sessions", "intents", "traces", "demo")
FILES = sorted(
    file for package in PACKAGES for file in (ROOT / package).rglob("*.py") if "migrations" not in file.parts
)


def functions(file: Path) -> list[tuple[str, int]]:
    """Each function of a file with its length in lines, decorators left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [
        (f"{file.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def percentile(lengths: list[int], share: float) -> int:
    return sorted(lengths)[int(share * (len(lengths) - 1))]


@pytest.fixture(scope="module")
def measured() -> list[tuple[str, int]]:
    return [one for file in FILES for one in functions(file)]


def test_no_function_is_longer_than_fifty_lines(measured):
    assert [name for name, length in measured if length > 50] == []


def test_functions_are_short(measured):
    lengths = [length for _, length in measured]
    assert percentile(lengths, 0.5) <= 8
    assert percentile(lengths, 0.95) <= 30


def test_files_are_short():
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert {str(file.relative_to(ROOT)): n for file, n in lengths.items() if n > 400} == {}
    assert percentile(list(lengths.values()), 0.95) <= 300


def test_every_module_of_the_project_package_has_its_layer():
    """A module that no layer names would escape the direction of imports."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [name.strip() for layer in contracts[0]["layers"] for name in layer.replace("|", ":").split(":")]
    package = ROOT / "controlplane"
    modules = {file.stem for file in package.glob("*.py")} | {
        file.parent.name for file in package.glob("*/__init__.py")
    }
    here = {f"controlplane.{name}" for name in modules - {"__init__", "migrations"}}
    assert here == {name for name in layers if name.startswith("controlplane.")}


MAX_FILES = 17
# Slices: one agent, one program, one tool set a file.
SLICES = {"sessions/adapters": 20, "controlplane/policy/shell/programs": 20}
# Django looks it up by name in each command.
SHARED_CLASS_NAMES = {"Command"}
# Programs of their own, which share no names with the server.
PROGRAMS = (ROOT / "controlplane" / "client", ROOT / "demo")


def test_a_folder_holds_about_fifteen_files():
    sizes = Counter(file.parent.relative_to(ROOT).as_posix() for file in FILES if file.name != "__init__.py")
    assert {folder: n for folder, n in sizes.items() if n > SLICES.get(folder, MAX_FILES)} == {}


def test_a_class_name_has_one_meaning():
    places = defaultdict(list)
    for file in FILES:
        if any(file.is_relative_to(program) for program in PROGRAMS):
            continue
        # A nested class is named by its owner: Approval.Kind, ApprovalGrant.Kind.
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name not in SHARED_CLASS_NAMES:
                places[node.name].append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_the_developer_docs_name_files_that_are_there():
    documents = [*(ROOT / "docs" / "dev").glob("*.md"), ROOT / "docs" / "architecture.md"]
    named = {
        path for document in documents for path in re.findall(r"`([\w./-]+/[\w./-]*)`", document.read_text())
    }
    known = [
        path for path in named if path.startswith((*PACKAGES, "tests", "docs", "benchmarks", "templates"))
    ]
    # NAME and APP stand for whatever somebody adds.
    assert [path for path in known if not re.search("NAME|APP", path) and not (ROOT / path).exists()] == []


def test_each_module_of_the_gate_has_tests():
    folder = ROOT / "tests" / "sessions" / "gate"
    named = set(re.findall(r"`(\w+)`", (folder / "README.md").read_text()))
    modules = {file.stem for file in (ROOT / "sessions" / "gate").rglob("*.py")} - {"__init__"}
    assert {name for name in modules if not (folder / f"test_{name}.py").exists()} <= named
