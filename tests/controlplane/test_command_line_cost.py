"""Commands start without importing what they do not need."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("rest_framework", "drf_spectacular", "pydantic", "channels", "tree_sitter", "mcp", "uvicorn")


def run(tmp_path: Path, *arguments: str) -> tuple[float, str]:
    """Processor time and standard error of a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "ICP_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in {0, 1}, done.stderr
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, done.stderr


@pytest.mark.parametrize(
    "command", ["migrate --check", "create_workspace --help", "add_member --help", "showmigrations"]
)
def test_a_command_imports_neither_views_nor_what_they_need(tmp_path, command):
    _, imported = run(tmp_path, "-X", "importtime", "manage.py", *command.split())
    names = {
        line.rpartition("|")[2].strip() for line in imported.splitlines() if line.startswith("import time")
    }
    assert [name for name in HEAVY if name in names] == []


def test_a_command_costs_a_few_times_what_django_alone_costs(tmp_path):
    django = min(
        run(tmp_path, "-c", "import django.core.management, django.contrib.auth.hashers")[0] for _ in range(2)
    )
    assert min(run(tmp_path, "manage.py", "create_workspace", "--help")[0] for _ in range(2)) < 6 * django
    assert min(run(tmp_path, "manage.py", "check")[0] for _ in range(2)) < 16 * django


def test_mistakes_of_a_deployment_are_still_found_by_every_command(tmp_path):
    env = {**os.environ, "ICP_DATA_DIR": str(tmp_path), "ICP_SECRET_KEY": "short"}
    done = subprocess.run(
        [sys.executable, "manage.py", "create_workspace", "acme"],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "icp.W001" in done.stderr
