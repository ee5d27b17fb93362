"""The steps of docs/operate.md as they stand there: back up, upgrade, roll back, restore."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.live import LiveServer
from tests.test_outages import IN_SCOPE, eventually, recorded

ROOT = Path(__file__).resolve().parent.parent
MANUAL = (ROOT / "docs/operate.md").read_text()
# What a later version might leave behind: a table, and a migration that this one does not know.
LATER_VERSION = """
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE later_version (id integer)")
MigrationRecorder(connection).record_applied("sessions", "9999_later_version")
"""
LEFT_OVER = (
    "from django.db import connection; print('later_version' in connection.introspection.table_names())"
)


def steps(heading: str) -> list[str]:
    """The shell blocks below a heading, as they are printed."""
    section = MANUAL.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


def walk(server: LiveServer, backup: Path, *blocks: str) -> subprocess.CompletedProcess[str]:
    environment = {**server.env, "BACKUP": str(backup)}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def server(tmp_path):
    live = LiveServer(tmp_path / "data")
    live.start()
    yield live
    live.close()


def restore_steps(server: LiveServer) -> list[str]:
    sqlite, postgresql, keys = steps("Restore")
    return [postgresql if server.env.get("ICP_DATABASE_URL", "").startswith("postgres") else sqlite, keys]


def is_ready(server: LiveServer) -> bool:
    try:
        with urllib.request.urlopen(f"{server.url}/readyz", timeout=60) as answer:
            return answer.status == 200
    except urllib.error.HTTPError:
        return False


@pytest.mark.deep
def test_a_backup_brings_back_what_it_held_after_a_later_version_has_run(server, tmp_path):
    tokens = server.workspace("acme")
    server.select(tokens["agent"], "s-1")
    assert server.gate(tokens["agent"], "s-1", "Write", **IN_SCOPE)[1]["decision"] == "allow"
    backup = tmp_path / "backup"
    done = walk(server, backup, *steps("Backup"))
    assert done.returncode == 0, done.stderr
    held = recorded(server)

    server.gate(tokens["agent"], "s-1", "Write", tool_use_id="after", **IN_SCOPE)
    server.manage("seal_ledger")
    server.manage("rotate_ledger_key")
    server.manage("shell", "-v0", "-c", LATER_VERSION)
    later_heads = tmp_path / "later.txt"
    server.manage("anchor_ledger", "--workspace", "acme", "--file", str(later_heads))
    server.end_commands()
    server.stop()

    done = walk(server, backup, *restore_steps(server))
    assert done.returncode == 0, done.stdout + done.stderr
    server.start()
    eventually(lambda: is_ready(server), 60)
    assert recorded(server) == held
    assert server.manage("shell", "-v0", "-c", LEFT_OVER).strip().endswith("False")
    assert server.gate(tokens["agent"], "s-1", "Write", **IN_SCOPE)[1]["decision"] == "allow"
    server.manage("verify_ledger")
    status, output = server.command("verify_ledger", "--workspace", "acme", "--checkpoint", str(later_heads))
    assert status != 0, "heads from after the backup contradict what was restored"
    assert "later.txt" in output or "head" in output


@pytest.mark.deep
def test_the_steps_of_an_upgrade_run_and_plan_nothing_twice(server, tmp_path):
    (upgrade,) = steps("Upgrade")
    without_code = [line for line in upgrade.splitlines() if line.startswith(".venv/bin/python")]
    assert len(without_code) == 3
    server.env["ICP_PUBLIC_URL"] = "https://icp.example.org"
    done = walk(server, tmp_path, *without_code)
    assert done.returncode == 0, done.stderr
    assert "No planned migration operations" in done.stdout


def test_a_backup_is_for_its_owner_alone_and_changes_no_other(
    tmp_path, transactional_db, settings, monkeypatch
):
    umask = os.umask(0o022)
    try:
        settings.DATA_DIR = tmp_path
        (tmp_path / "secret_key").write_text("not a real one")
        folder = tmp_path / "backups" / "first"
        call_command("back_up", str(folder))
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert all(not file.stat().st_mode & 0o077 for file in folder.rglob("database*"))
        assert (folder / "secret_key").read_text() == "not a real one"
        with pytest.raises(CommandError, match="exists"):
            call_command("back_up", str(folder))
    finally:
        os.umask(umask)
