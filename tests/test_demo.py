"""The example workspace is found again, and `manage.py demo` tells its story to the end."""

from __future__ import annotations

import contextlib
import json
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from controlplane.models import Membership, Role, Workspace
from controlplane.server import demo
from controlplane.shared.tokens import find_bearer
from intents.models import Intent
from sessions.models import Approval
from tests.builders import person, speaker, workspace
from tests.live import ROOT, STOP_SECONDS, LiveServer
from traces.models import LedgerEntry


@pytest.fixture
def data(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # three people a test
    return tmp_path


@pytest.mark.django_db
class TestSeed:
    def test_it_makes_the_customers_four_intents_three_people_and_three_tokens(self, data):
        seeded = demo.seed()
        statuses = dict(Intent.objects.order_by("intent_id").values_list("intent_id", "status"))
        assert statuses == {
            "INT-001": "IN_PROGRESS",
            "INT-002": "COMPLETED",
            "INT-003": "PENDING",
            "INT-004": "BLOCKED",
        }
        roles = dict(Membership.objects.values_list("user__username", "role"))
        assert roles == {"ada": Role.ADMIN, "rex": Role.REVIEWER, "ivy": Role.AUDITOR}
        assert {role: find_bearer(text).role for role, text in seeded.credentials.tokens.items()} == {
            "agent": "agent",
            "reviewer": "reviewer",
            "admin": "admin",
        }
        for name, password in seeded.credentials.passwords.items():
            user = Membership.objects.get(user__username=name).user
            assert user.check_password(password)
            assert f"{name} " in demo.describe_demo(seeded)
            assert password in demo.describe_demo(seeded)

    def test_a_second_run_finds_and_prints_the_same(self, data):
        first = demo.describe_demo(demo.seed())
        entries = LedgerEntry.objects.count()
        assert demo.describe_demo(demo.seed()) == first
        assert LedgerEntry.objects.count() == entries

    def test_the_secrets_are_readable_by_their_owner_only(self, data):
        demo.seed()
        assert stat.S_IMODE((data / "demo.json").stat().st_mode) == 0o600

    def test_a_lost_file_of_secrets_is_made_anew(self, data):
        demo.seed()
        (data / "demo.json").write_text("torn")
        seeded = demo.seed()
        assert find_bearer(seeded.credentials.tokens["agent"])
        assert Membership.objects.get(user__username="rex").user.check_password(
            seeded.credentials.passwords["rex"]
        )

    def test_a_new_database_gets_what_was_printed_before(self, data):
        kept = demo.seed().credentials
        Workspace.objects.all().delete()
        again = demo.seed().credentials
        assert again.passwords == kept.passwords
        assert find_bearer(again.tokens["admin"])

    def test_what_a_stopped_run_left_open_is_closed(self, data):
        seeded = demo.seed()
        left = speaker(seeded.workspace)
        left.select("INT-001", session="demo-left")
        left.gate("write_to_file", session="demo-left", path="docs/design.md", content="x")
        demo.seed()
        assert Approval.objects.get().status == Approval.Status.CANCELLED
        assert left.select("INT-001", session="demo-next")["success"]

    def test_a_workspace_of_that_name_that_is_not_the_demos_is_left_alone(self, data):
        workspace("acme")
        with pytest.raises(demo.DemoConflictError):
            demo.seed()
        assert not Intent.objects.exists()

    def test_a_person_of_that_name_who_is_somebody_else_keeps_the_password(self, data):
        ada = person("ada", workspace("elsewhere"), Role.ADMIN)
        with pytest.raises(demo.DemoConflictError):
            demo.seed()
        before = ada.password
        ada.refresh_from_db()
        assert ada.password == before
        assert not Workspace.objects.filter(slug="acme").exists()

    def test_the_repository_fits_the_intents_and_is_under_git(self, data):
        seeded = demo.seed()
        for path in (
            "src/auth/login.ts",
            "src/models/User.ts",
            "infrastructure/redis/redis.conf",
            ".git/HEAD",
        ):
            assert (seeded.repository / path).is_file()
        (seeded.repository / "src/auth/login.ts").write_text("changed")
        demo.seed()
        assert (seeded.repository / "src/auth/login.ts").read_text() == "changed"


class Running:
    """`manage.py demo` in a process of its own."""

    def __init__(self, live: LiveServer, output):
        self.live, self.output = live, output
        with output.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "demo"],
                cwd=ROOT,
                env=live.env | {"DEMO_PACE": "0"},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def said(self, words: str, seconds: float = 60) -> str:
        """The output as soon as it holds these words."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            text = self.output.read_text()
            if words in text:
                return text
            assert self.process.poll() is None, text
            time.sleep(0.1)
        raise AssertionError(f"never said {words!r}:\n{self.output.read_text()}")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(STOP_SECONDS)


def agents_of(live: LiveServer) -> list[str]:
    """Command lines of running agents of this demo."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            found.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in found if "agent.py" in line and str(live.log.parent) in line]


@pytest.fixture
def live(tmp_path):
    server = LiveServer(tmp_path)
    yield server
    server.close()


@pytest.mark.deep
def test_the_story_runs_to_its_end_twice_and_stops_at_once(live, tmp_path):
    running = Running(live, tmp_path / "demo.log")
    try:
        text = running.said("waits for a person")
        assert "without an intent: DENY: You must cite a valid active Intent ID." in text
        assert "writes src/auth/tokens.ts again: ALLOW" in text
        tokens = json.loads((tmp_path / "demo.json").read_text())["tokens"]
        _, waiting = live.api(tokens["reviewer"], "GET", "approvals?status=PENDING")
        kinds = {approval["tool"]: approval["id"] for approval in waiting["results"]}
        assert set(kinds) == {"execute_command", "edit_file"}
        live.api(tokens["reviewer"], "POST", f"approvals/{kinds['edit_file']}/decide", {"action": "approve"})
        live.api(
            tokens["reviewer"],
            "POST",
            f"approvals/{kinds['execute_command']}/decide",
            {"action": "reject", "comment": "Not now."},
        )
        text = running.said("ends its session")
        assert "hears about docs/design.md: ALLOW" in text
        assert "hears about the command: DENY" in text
        assert "signed tokens" in (tmp_path / "demo-repo/docs/design.md").read_text()
        assert not (tmp_path / "demo-repo/docs/links.txt").exists()
        _, traces = live.api(tokens["reviewer"], "GET", "traces")
        assert len(traces["results"]) == 2
        running.stop()
        again = Running(live, tmp_path / "again.log")
        try:
            again.said("waits for a person")
            assert agents_of(live)
            again.stop()
            assert not agents_of(live)
        finally:
            again.process.kill()
    finally:
        running.process.kill()
