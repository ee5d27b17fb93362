"""Taking turns to write: one at a time on SQLite, side by side on PostgreSQL, never waiting for oneself."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from controlplane.models import Workspace
from controlplane.shared.database.sqlite_lock import write_transaction
from tests import builders

pytestmark = pytest.mark.django_db(transaction=True)


class Other(threading.Thread):
    """A second thread that writes, and says when its transaction has begun."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace_id = workspace.pk
        self.began = threading.Event()

    def run(self) -> None:
        try:
            with write_transaction():
                self.began.set()
                Workspace.objects.filter(pk=self.workspace_id).update(name="Other")
        finally:
            connection.close()


@pytest.fixture
def workspace():
    return builders.workspace()


def test_another_thread_has_its_turn_when_this_one_is_done(workspace):
    side_by_side = connection.vendor == "postgresql"
    other = Other(workspace)
    with write_transaction():
        other.start()
        assert other.began.wait(10 if side_by_side else 0.2) is side_by_side
    other.join()
    assert other.began.is_set()
    assert Workspace.objects.get(pk=workspace.pk).name == "Other"


def fail_after_writing(workspace: Workspace) -> None:
    with write_transaction():
        Workspace.objects.filter(pk=workspace.pk).update(name="Lost")
        raise LookupError


def test_a_failed_transaction_is_undone_and_frees_the_turn(workspace):
    with pytest.raises(LookupError):
        fail_after_writing(workspace)
    other = Other(workspace)
    other.start()
    other.join()
    assert Workspace.objects.get(pk=workspace.pk).name == "Other"


def test_a_transaction_within_another_waits_for_nobody(workspace):
    with write_transaction(), write_transaction():
        Workspace.objects.filter(pk=workspace.pk).update(name="Inner")
    assert Workspace.objects.get(pk=workspace.pk).name == "Inner"
