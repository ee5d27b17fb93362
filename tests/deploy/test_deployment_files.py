"""What the deployment files name exists: metrics, variables, folders. `make check-deploy` asks the tools."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from controlplane.shared.metrics import REGISTRY

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
CONTAINERFILE = (ROOT / "Containerfile").read_text()
ALERTS = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((DEPLOY / "grafana/dashboard.json").read_text())


def exported() -> set[str]:
    """Names of series: a counter ends in _total, a histogram has three."""
    suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
    return {f"{metric.name}{suffix}" for metric in REGISTRY.collect() for suffix in suffixes[metric.type]}


def named(expression: str) -> set[str]:
    return set(re.findall(r"\bicp_\w+", expression))


@pytest.mark.parametrize("alert", ALERTS, ids=[alert["alert"] for alert in ALERTS])
def test_an_alert_names_metrics_that_exist_and_says_what_to_do(alert):
    assert named(alert["expr"]) <= exported()
    assert alert["annotations"]["summary"]
    assert alert["annotations"]["description"]


@pytest.mark.parametrize("panel", DASHBOARD["panels"], ids=[panel["title"] for panel in DASHBOARD["panels"]])
def test_a_panel_shows_metrics_that_exist(panel):
    names = set().union(*(named(target["expr"]) for target in panel["targets"]))
    assert names
    assert names <= exported()


def test_every_metric_is_on_the_dashboard():
    shown = named(json.dumps(DASHBOARD))
    assert {name for name in exported() if not name.endswith(("_sum", "_count"))} <= shown


def test_variables_are_those_that_the_server_reads():
    text = (ROOT / "controlplane/env.py").read_text()
    of_compose = {
        "ICP_HOST",
        "ICP_DATABASE_PASSWORD",
        "ICP_VERSION",
        "ICP_UPSTREAM_NAME",
        "ICP_UPSTREAM_PORT",
    }
    known = set(re.findall(r'"(ICP_\w+)"', text)) | of_compose
    for file in [ROOT / "compose.yaml", ROOT / "Containerfile", *DEPLOY.rglob("*")]:
        if file.is_file() and file.suffix not in {".json", ".pyc"}:
            assert set(re.findall(r"\bICP_[A-Z_]+[A-Z]\b", file.read_text())) <= known, file


def test_every_variable_of_the_server_is_in_the_manual():
    manual = (ROOT / "docs/operate.md").read_text()
    for name in re.findall(r'"(ICP_\w+)"', (ROOT / "controlplane/env.py").read_text()):
        assert f"| `{name}` |" in manual, name


def copied() -> set[str]:
    """What the image is made of."""
    return {
        line.split()[1]
        for line in CONTAINERFILE.splitlines()
        if line.startswith("COPY ") and "--from" not in line
    }


def test_the_context_of_the_build_is_what_the_image_copies():
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in lines if line.startswith("!")} == copied()


@pytest.mark.deep
def test_the_server_starts_from_what_the_image_copies(tmp_path):
    """From a folder that nobody may write to, as in a container with a read-only root."""
    root, data = tmp_path / "image", tmp_path / "data"
    root.mkdir()
    for name in copied() - {"requirements/base.txt"}:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root / name)
    environment = {
        "PATH": os.environ["PATH"],
        "ICP_DATA_DIR": str(data),
        "ICP_LOG_FORMAT": "json",
        "ICP_PUBLIC_URL": "https://icp.example.org",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    before = sorted(root.rglob("*"))
    for arguments in (
        ["migrate", "-v0"],
        ["check", "--deploy", "--fail-level", "WARNING"],
        ["shell", "-c", "import controlplane.asgi"],
    ):
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert sorted(root.rglob("*")) == before
