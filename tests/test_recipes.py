"""The recipes use the SDK as it is."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from controlplane.client import icp_sdk

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted([*(DOCS / "recipes").glob("*.md"), DOCS / "sdk.md"])
USING = [page for page in PAGES if "from icp_sdk" in page.read_text(encoding="utf-8")]


def code_of(page):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return ast.parse("\n".join(blocks).replace("    return decision.text  #", "    print(decision.text)  #"))


def test_there_are_recipes():
    names = {page.stem for page in USING}
    assert names >= {"langgraph", "openai-agents", "claude-agent-sdk", "pydantic-ai", "sdk"}


@pytest.mark.parametrize("page", USING, ids=lambda page: page.stem)
def test_every_call_fits_the_sdk(page):
    tree = code_of(page)
    made = next(
        node.value.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.targets[0].id == "icp"
    )
    plane = getattr(icp_sdk, made)
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    own = [node for node in calls if ast.unparse(node.func.value) == "icp"]
    assert own
    for node in own:
        method = getattr(plane, node.func.attr)
        values = [None for _ in node.args]
        named = {keyword.arg: None for keyword in node.keywords}
        for each in (method, getattr(icp_sdk.ControlPlane, node.func.attr)):  # coroutines pass their names on
            inspect.signature(each).bind(None, *values, **named)


@pytest.mark.parametrize(
    "page", [page for page in USING if page.parent.name == "recipes"], ids=lambda page: page.stem
)
def test_every_recipe_ends_its_session_and_records(page):
    text = page.read_text(encoding="utf-8")
    assert re.search(r"^ +(?:async )?with icp:", text, re.MULTILINE)
    assert "icp.record_targets(decision)" in text
