"""Append entries to the ledger, and read them back.

The write path takes no lock and reads no tail: entries are inserted here, and the sealer orders them later.
`append` takes an optional precondition, for example that the snapshot behind a decision is still current.
Check and insert are one statement, so nothing can change between them.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

from django.db import connection, transaction

from controlplane.shared import notify
from traces.ledger import canonical_json
from traces.ledger.bulk_insert import column_names
from traces.ledger.insert_rows import insert_rows_with
from traces.ledger.merkle import leaf_hash
from traces.models import LedgerBody, LedgerEntry

ENVELOPE_VERSION = 1
SALT_SIZE = 16

# Text columns that copy the envelope, with their maximum lengths. `actor` is in the envelope only.
TEXT_LIMITS = {
    "session_id": 200,
    "intent_id": 200,
    "outcome": 40,
    "agent": 100,
    "tool": 200,
    "error_type": 40,
    "reason": 200,
    "actor": 200,
}
ENTRY_TABLE, BODY_TABLE = LedgerEntry._meta.db_table, LedgerBody._meta.db_table
COLUMNS = column_names(LedgerEntry, without_id=True)
INSERT_ENTRY = (
    f"INSERT INTO {ENTRY_TABLE} ({', '.join(COLUMNS)}) SELECT {', '.join(['%s'] * len(COLUMNS))} WHERE "
)
RETURN_ID = " ON CONFLICT DO NOTHING RETURNING id"
INSERT_BODY = f"INSERT INTO {BODY_TABLE} ({', '.join(column_names(LedgerBody))}) "


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to append. `body` is any JSON object; `idempotency_key` makes a retry a no-op.

    `encoded` holds the canonical bytes of `body` where the caller has them already. `rows_digest` is that of
    the rows which the entry is projected to; whoever derives its salt from the body's chooses that salt here.
    Without `entry_id` a time-ordered UUID is generated. Texts over `TEXT_LIMITS` are cut.
    """

    workspace_id: int
    kind: str
    body: dict[str, Any]
    entry_id: str | None = None
    encoded: bytes | None = None
    idempotency_key: str | None = None
    session_id: str = ""
    intent_id: str = ""
    outcome: str = ""
    agent: str = ""
    tool: str = ""
    error_type: str = ""
    reason: str = ""
    actor: str = ""
    rows_digest: str = ""
    salt: bytes | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A precondition: an SQL boolean expression over other tables. Nothing is inserted unless it is true."""

    sql: str
    params: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class AppendedEntry:
    id: int
    entry_id: str
    received_at: datetime
    leaf_hash: bytes


@dataclass(frozen=True, slots=True)
class PreparedEntry:
    """An entry in its stored form: a value for each of `COLUMNS`, and the body with its salt."""

    row: dict[str, Any]
    salt: bytes
    body: bytes

    def appended(self, row_id: int) -> AppendedEntry:
        return AppendedEntry(row_id, self.row["entry_id"], self.row["received_at"], self.row["leaf_hash"])


_texts = attrgetter(*TEXT_LIMITS)
ALWAYS = Condition("1 = 1")


def append(entry: NewEntry, *, only_if: Condition = ALWAYS) -> AppendedEntry | None:
    """Insert one entry inside the caller's transaction. 1 statement on PostgreSQL, 2 on SQLite.

    Return None when nothing was inserted: the condition did not hold, or an entry with this idempotency key
    (or this kind and id) exists. Raise CanonicalError for a body that is not strict JSON.
    """
    return append_prepared(prepare(entry), only_if=only_if)


def append_prepared(prepared: PreparedEntry, *, only_if: Condition = ALWAYS) -> AppendedEntry | None:
    """Insert an entry that was prepared before the transaction began, to keep the transaction short."""
    insert, params = _build_insert(prepared, only_if)
    execute = _append_in_one_statement if connection.vendor == "postgresql" else _append_in_two_statements
    return _announce(prepared, execute(insert, params, prepared))


def append_together(entries: Sequence[tuple[PreparedEntry, Condition]]) -> list[AppendedEntry | None]:
    """Insert entries inside the caller's transaction, each only while its own condition holds.

    On PostgreSQL their statements travel in one round trip.
    """
    if connection.vendor != "postgresql":
        return [append_prepared(prepared, only_if=condition) for prepared, condition in entries]
    with ExitStack() as cursors:
        sent = [cursors.enter_context(connection.cursor()) for _ in entries]
        with connection.connection.pipeline():
            for cursor, (prepared, condition) in zip(sent, entries, strict=True):
                insert, params = _build_insert(prepared, condition)
                cursor.execute(*_as_one_statement(insert, params, prepared))
        results = [cursor.fetchall() for cursor in sent]
    return [
        _announce(prepared, rows[0][0] if rows else None)
        for (prepared, _), rows in zip(entries, results, strict=True)
    ]


def _build_insert(prepared: PreparedEntry, only_if: Condition) -> tuple[str, list[Any]]:
    values = prepared.row | {
        "received_at": connection.ops.adapt_datetimefield_value(prepared.row["received_at"])
    }
    insert = f"{INSERT_ENTRY}({only_if.sql}){RETURN_ID}"
    return insert, [*(values[name] for name in COLUMNS), *only_if.params]


def _announce(prepared: PreparedEntry, row_id: int | None) -> AppendedEntry | None:
    if row_id is None:
        return None
    _announce_on_commit({prepared.row["workspace_id"]})
    return prepared.appended(row_id)


def append_many(entries: Iterable[NewEntry]) -> list[AppendedEntry]:
    """Insert entries in this order inside the caller's transaction, in batches.

    Raise IntegrityError when one of them exists; callers check before.
    """
    received_at = datetime.now(UTC)
    prepared_entries = [prepare(entry, received_at) for entry in entries]
    rows = [prepared.row for prepared in prepared_entries]
    with connection.cursor() as cursor:
        ids = insert_rows_with(cursor, LedgerEntry, rows, returning=True)
        bodies = [
            {"entry_id": row_id, "salt": prepared.salt, "body": prepared.body}
            for row_id, prepared in zip(ids, prepared_entries, strict=True)
        ]
        insert_rows_with(cursor, LedgerBody, bodies)
    _announce_on_commit({prepared.row["workspace_id"] for prepared in prepared_entries})
    return [prepared.appended(row_id) for row_id, prepared in zip(ids, prepared_entries, strict=True)]


def _announce_on_commit(workspace_ids: set[int]) -> None:
    """Notify open pages of new entries once they are committed and readable."""
    for workspace_id in workspace_ids:
        transaction.on_commit(partial(notify.announce, workspace_id))


def prepare(entry: NewEntry, received_at: datetime | None = None) -> PreparedEntry:
    """Compute the stored form of an entry: canonical body, digest, envelope and leaf hash.

    `received_at` is now by default.
    """
    received_at = received_at or datetime.now(UTC)
    # The envelope outlives a redaction: without a salt its digest would let anybody guess short bodies.
    salt = entry.salt or os.urandom(SALT_SIZE)
    body = entry.encoded or canonical_json.encode(entry.body)
    digest = hashlib.sha256(salt + body).digest()
    identity = {
        "workspace_id": entry.workspace_id,
        "kind": str(entry.kind),
        "entry_id": entry.entry_id or generate_entry_id(),
        "idempotency_key": entry.idempotency_key,
    }
    texts = {
        name: text[:limit] for (name, limit), text in zip(TEXT_LIMITS.items(), _texts(entry), strict=True)
    }
    sealed = identity | texts | {"rows_digest": entry.rows_digest}
    envelope = canonical_json.encode_flat(build_envelope(sealed, received_at, digest))
    texts.pop("actor")
    row = identity | texts | {
        "received_at": received_at,
        "envelope": envelope,
        "leaf_hash": leaf_hash(envelope),
        "body_digest": digest,
    }  # fmt: skip
    return PreparedEntry(row, salt, body)


def build_envelope(values: dict[str, Any], received_at: datetime, body_digest: bytes) -> dict[str, Any]:
    """Return the part of an entry that is hashed into the tree, without empty and null fields."""
    filled = {name: value for name, value in values.items() if value is not None and value != ""}
    return filled | {
        "v": ENVELOPE_VERSION,
        "received_at": format_instant(received_at),
        "body_digest": body_digest.hex(),
    }


@lru_cache(maxsize=64)
def format_instant(time: datetime) -> str:
    """Format a time as RFC 3339 in UTC, always with microseconds: equal times have equal bytes."""
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def generate_entry_id() -> str:
    """Return a UUIDv7 (RFC 9562): ordered by time, so that indexes grow at their end."""
    milliseconds = time.time_ns() // 1_000_000
    randomness = int.from_bytes(os.urandom(10), "big")
    high, low = randomness >> 62 & 0xFFF, randomness & (1 << 62) - 1
    return str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low))


def find_by_key(workspace_id: int, idempotency_key: str) -> LedgerEntry | None:
    """Return the entry with this idempotency key, and its body. 1 query."""
    entries = LedgerEntry.objects.for_workspace(workspace_id).with_body()
    return entries.filter(idempotency_key=idempotency_key).first()


def read_body(entry: LedgerEntry) -> dict[str, Any] | None:
    """Return the body; None once it is redacted or archived (`traces.ledger.missing_bodies` tells which).

    1 query unless the body was fetched with the entry.
    """
    try:
        stored = entry.body
    except LedgerBody.DoesNotExist:
        return None
    body: dict[str, Any] = json.loads(bytes(stored.body))
    return body


def _append_in_one_statement(insert: str, params: list[Any], prepared: PreparedEntry) -> int | None:
    return _fetch_first_value(*_as_one_statement(insert, params, prepared))


def _as_one_statement(insert: str, params: list[Any], prepared: PreparedEntry) -> tuple[str, list[Any]]:
    select = "SELECT id, %s, %s FROM made RETURNING entry_id"
    return f"WITH made AS ({insert}) {INSERT_BODY}{select}", [*params, prepared.salt, prepared.body]


def _append_in_two_statements(insert: str, params: list[Any], prepared: PreparedEntry) -> int | None:
    row_id = _fetch_first_value(insert, params)
    if row_id is not None:
        _fetch_first_value(
            f"{INSERT_BODY}VALUES (%s, %s, %s) RETURNING entry_id", [row_id, prepared.salt, prepared.body]
        )
    return row_id


def _fetch_first_value(statement: str, params: list[Any]) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        rows = cursor.fetchall()
    return rows[0][0] if rows else None
