from __future__ import annotations

import pytest

from controlplane.models import Workspace
from tests import builders
from tests.sessions.approvals.approval_builders import edit
from tests.sessions.approvals.card.previews.builders import FILE


@pytest.fixture
def rexs(rex):
    """Rex, signed in."""
    return builders.signed_in(rex)


@pytest.fixture
def asked(acme, agent):
    """An edit that waits: a session of INT-001 has left its scope."""
    builders.intent(acme)
    agent.select("INT-001")
    return edit(agent)


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """A workspace with one file on this machine. Previews never ask the ledger for hashes."""
    monkeypatch.setattr("sessions.worktree.find_newest_hashes", lambda workspace_id, paths: {})
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.txt").write_text(FILE)
    return Workspace(pk=1, slug="acme", local_root=str(tmp_path))


@pytest.fixture
def remote():
    """A workspace without a folder on this machine."""
    return Workspace(pk=1, slug="acme")
