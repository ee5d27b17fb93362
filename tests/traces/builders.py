"""Plain builders for ledger tests. Workspaces are only numbers here: the ledger knows nobody."""

from __future__ import annotations

from django.db import connection, transaction

from tests.traces.ledger_flush import triggers_off
from traces.ledger import append as ledger
from traces.ledger import checkpoints
from traces.ledger.append import NewEntry
from traces.lessons.store import filter_lessons, load_history, load_retirements

HOME = 7
AWAY = 8


def decision(**fields):
    return NewEntry(**{"workspace_id": HOME, "kind": "decision", "body": {"tool": "read_file"}, **fields})


def append(entry=None, **options):
    with transaction.atomic():
        return ledger.append(entry or decision(), **options)


def append_many(count, **fields):
    with transaction.atomic():
        return ledger.append_many(decision(**fields) for _ in range(count))


def tamper(statement, params=()):
    """What somebody with the database's own password could do, once the triggers are off."""
    with transaction.atomic(), triggers_off(), connection.cursor() as cursor:
        cursor.execute(statement, params)


def replace_key():
    """Take a new key into use without telling anybody. Return the path of the old one."""
    checkpoints.prepare_next_key()
    return checkpoints.replace_key()


def lesson_book(workspace_id):
    """All lessons, newest first: retired ones too, and how often each came again."""
    return load_history(
        workspace_id, filter_lessons(workspace_id).order_by("-pk"), load_retirements(workspace_id)
    )
