"""Commands start without importing what they do not need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("rest_framework", "drf_spectacular", "pydantic", "channels", "tree_sitter", "mcp", "uvicorn")


@pytest.mark.parametrize(
    "command", ["migrate --check", "create_workspace --help", "add_member --help", "showmigrations"]
)
def test_a_command_imports_neither_views_nor_what_they_need(tmp_path, command):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", *command.split()],
        cwd=ROOT, env={**os.environ, "ICP_DATA_DIR": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time")]
    names = {line.rpartition("|")[2].strip() for line in lines}
    assert "django.core.management" in names
    assert [name for name in HEAVY if name in names] == []


def test_mistakes_of_a_deployment_are_still_found_by_every_command(tmp_path):
    env = {**os.environ, "ICP_DATA_DIR": str(tmp_path), "ICP_SECRET_KEY": "short"}
    done = subprocess.run(
        [sys.executable, "manage.py", "create_workspace", "acme"],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "icp.W001" in done.stderr
