"""`GET /client/icp.py`: the hook client as one file, put together from its modules. It holds no secrets."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

FOLDER = Path(__file__).parent / "client"
PARTS = (  # whoever is imported comes first
    "facts", "asking", "clients", "hook", "configuring",
    "calling", "gitfiles", "noting", "reconciling", "syncing", "icp",
)  # fmt: skip
PACKAGE = "controlplane.client"


@require_safe
def client_program(_: HttpRequest) -> HttpResponse:
    return HttpResponse(program(), content_type="text/x-python; charset=utf-8")


@cache
def program() -> str:
    """The modules below each other in one namespace, without imports between them and a linter's marks."""
    texts = [(FOLDER / f"{part}.py").read_text(encoding="utf-8") for part in PARTS]
    opening = ast.get_docstring(ast.parse(texts[-1]), clean=False)
    body = "\n\n".join(_body(text) for text in texts)
    return f'#!/usr/bin/env python3\n"""{opening}"""\n\nfrom __future__ import annotations\n\n{body}\n'


def _body(text: str) -> str:
    """A module's own lines. Its docstring becomes a comment, because only the program has one."""
    lines, tree = text.splitlines(), ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith((PACKAGE, "__future__")):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    first = tree.body[0]
    lines[: first.end_lineno] = [f"# --- {(ast.get_docstring(tree) or '').splitlines()[0]}"]
    kept = re.sub(r"# noqa: \w+  ", "# ", "\n".join(lines))
    return re.sub(r"\n{4,}", "\n\n\n", kept).strip()
