"""Every module of the core has a test file of its name, or a line in README.md that names its tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
POLICY = HERE.parents[1] / "controlplane" / "policy"
MODULES = sorted(
    path.relative_to(POLICY).with_suffix("").as_posix()
    for path in POLICY.rglob("*.py")
    if path.name != "__init__.py" and not path.is_relative_to(POLICY / "shell")
)
TABLE = (HERE / "README.md").read_text().partition("| module |")[2]
NAMED = set(re.findall(r"`([\w/]+)`", TABLE))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_tests(module):
    folder, _, name = module.rpartition("/")
    assert (HERE / folder / f"test_{name}.py").exists() or {module, folder} & NAMED


@pytest.mark.parametrize("name", sorted(NAMED))
def test_the_table_names_no_module_that_is_gone(name):
    assert (POLICY / f"{name}.py").exists() or (POLICY / name).is_dir()
