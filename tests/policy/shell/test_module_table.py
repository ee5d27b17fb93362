"""Every module of the shell analysis has a test file of its name, or a line in README.md that names its tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SHELL = HERE.parents[2] / "controlplane" / "policy" / "shell"
MODULES = sorted(
    path.relative_to(SHELL).with_suffix("").as_posix()
    for path in SHELL.rglob("*.py")
    if path.name != "__init__.py"
)
NAMED = set(re.findall(r"`([\w/]+)`", (HERE / "README.md").read_text()))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_tests(module):
    folder, _, name = module.rpartition("/")
    assert (HERE / folder / f"test_{name}.py").exists() or module in NAMED or folder.startswith("programs")


def test_the_table_names_no_module_that_is_gone():
    assert {name for name in NAMED if name.startswith(("bash/", "programs/"))} <= set(MODULES)
