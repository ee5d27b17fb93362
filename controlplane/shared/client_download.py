"""Serve the hook client as one file, and the SDK. Neither contains a secret."""

from __future__ import annotations

import ast
import hashlib
import re
from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from controlplane.client.call_context import VERSION
from controlplane.client.config.install import HOOK_END

CLIENT_DIR = Path(__file__).parents[1] / "client"
# In the order of their imports. What a hook needs comes first: it is installed as a program of its own.
HOOK_MODULES = (
    "fast_json", "repository", "connection", "containment_claim", "call_context", "call_changes",
    "line_changes", "http_post", "agents", "commands/hook",
)  # fmt: skip
MODULES = (
    "config/json_edit", "config/atomic_write", "config/config_files", "config/hook_entries",
    "config/mcp_servers", "config/codex_trust", "config/folder_trust", "config/install",
    "commands/mcp_bridge", "http_request", "commands/contained_call", "commands/canaries", "commands/doctor",
    "commands/git_changes", "commands/git_notes", "commands/reconcile", "commands/sync",
    "commands/server_tools", "commands/connect", "icp",
)  # fmt: skip
RUN_MODULES = (  # of icp_runs.py, which only contained runs load
    "runs/seccomp", "runs/containment", "runs/changes", "runs/run_folder", "runs/ignore_rules",
    "runs/view", "runs/landing", "runs/report", "runs/effects", "runs/command", "runs/probe",
)  # fmt: skip
VERSION_DIGITS = 12
PACKAGE = "controlplane.client"
PYTHON = "text/x-python; charset=utf-8"


@require_safe
def client_program(_: HttpRequest) -> HttpResponse:
    return HttpResponse(build_client(), content_type=PYTHON)


@require_safe
def runs_program(_: HttpRequest) -> HttpResponse:
    """Serve the part of the client that contains commands."""
    return HttpResponse(build_runs_program(), content_type=PYTHON)


@require_safe
def landlock_program(_: HttpRequest) -> HttpResponse:
    """Serve the innermost step of a contained command: alone, since it starts with every one."""
    return HttpResponse((CLIENT_DIR / "runs" / "landlock.py").read_text("utf-8"), content_type=PYTHON)


@require_safe
def sdk_module(_: HttpRequest) -> HttpResponse:
    """Serve the SDK module unchanged."""
    return HttpResponse((CLIENT_DIR / "icp_sdk.py").read_text("utf-8"), content_type=PYTHON)


@cache
def build_client() -> str:
    """Concatenate the client's modules, without the imports between them and `noqa` marks."""
    texts = _read_modules((*HOOK_MODULES, *MODULES))
    sources = [_module_source(text) for text in texts]
    sources.insert(len(HOOK_MODULES), HOOK_END)
    text = _join_sources(texts[-1], sources)
    # Over the text with the placeholder in it: the version cannot depend on itself.
    digest = hashlib.sha256(text.encode()).hexdigest()[:VERSION_DIGITS]
    return text.replace(f'VERSION = "{VERSION}"', f'VERSION = "{digest}"', 1)


@cache
def build_runs_program() -> str:
    """Concatenate the modules of contained runs."""
    texts = _read_modules(RUN_MODULES)
    return _join_sources(texts[-1], [_module_source(text) for text in texts])


def _read_modules(parts: tuple[str, ...]) -> list[str]:
    return [(CLIENT_DIR / f"{part}.py").read_text(encoding="utf-8") for part in parts]


def _join_sources(last: str, sources: list[str]) -> str:
    """Return one program under the docstring of its last module."""
    docstring, body = ast.get_docstring(ast.parse(last), clean=False), "\n\n".join(sources)
    return f'#!/usr/bin/env python3\n"""{docstring}"""\n\nfrom __future__ import annotations\n\n{body}\n'


@cache
def client_version() -> str:
    """Return the version in the client that is served now."""
    match = re.search(r'^VERSION = "([0-9a-f]+)"', build_client(), re.MULTILINE)
    assert match is not None  # call_context.py defines it
    return match[1]


def _module_source(text: str) -> str:
    """Return a module's source without package imports; its docstring becomes a comment."""
    lines, tree = text.splitlines(), ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith((PACKAGE, "__future__")):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    first = tree.body[0]
    lines[: first.end_lineno] = [f"# --- {(ast.get_docstring(tree) or '').splitlines()[0]}"]
    source = re.sub(r"# noqa: \w+  ", "# ", "\n".join(lines))
    return re.sub(r"\n{4,}", "\n\n\n", source).strip()
