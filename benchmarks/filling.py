"""A workspace with a long past, made quickly: sessions of agents at work, their decisions and traces.

The rows are those of the product (envelopes, hashes, projections), only inserted in bulk; its triggers stand.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from controlplane.models import Membership, Role, Workspace
from controlplane.shared.tokens import create_token
from intents import registry
from sessions.models import AgentSession
from traces.counts.counters import count_sealed
from traces.entries.mutation_class_check import ClassCheck
from traces.entries.projections import RecordedTrace, write_projections
from traces.entries.record import Mutation, MutationAuthor, build_trace_entry
from traces.entry_schema import parse_entry
from traces.ledger.append import COLUMNS, NewEntry, prepare
from traces.ledger.sealing import seal

DAYS = 90
AREAS = ("src", "tests", "docs", "web", "infra")
PARTS = (
    "auth",
    "billing",
    "search",
    "mail",
    "export",
    "import",
    "admin",
    "api",
    "jobs",
    "reports",
    "users",
    "files",
)
AGENTS = ("claude-code", "codex", "gemini-cli", "cursor")
TOOLS = ("Read", "Grep", "Edit", "Write", "Bash")
REFUSALS = (
    ("deny", "SCOPE_VIOLATION", "not_in_scope"),
    ("deny", "STALE_FILE", "hash_mismatch"),
    ("ask", "SCOPE_VIOLATION", "not_in_scope"),
    ("deny", "MISSING_OR_INVALID_INTENT", "none_selected"),
)
INTENTS = 40
ENTRIES_A_SESSION = 50
FILES_A_PART = 90
BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Session:
    """One session at work: who, under what, from when, in which folder."""

    id: str
    agent: str
    intent_id: str
    began: datetime
    folder: str


def make_workspace(slug: str, user: Any) -> Workspace:
    """A workspace with intents, a member and sessions that are alive."""
    workspace = Workspace.objects.create(slug=slug, name=slug.title())
    Membership.objects.create(workspace=workspace, user=user, role=Role.ADMIN)
    token, _ = create_token(workspace, "agent", "bench")
    for number in range(INTENTS):
        area, part = AREAS[number % len(AREAS)], PARTS[number % len(PARTS)]
        document = {
            "id": f"INT-{number + 1:03}",
            "name": f"Work on {part} in {area}",
            "description": f"Make the {part} logic of {area} simple.",
            "status": ("PENDING", "IN_PROGRESS", "COMPLETED")[number % 3],
            "owned_scope": [f"{area}/{part}/**", f"{area}/{PARTS[(number + 3) % len(PARTS)]}/*.ts"],
            "constraints": ["Keep it simple"],
            "acceptance_criteria": ["It works"],
        }
        registry.create(workspace, document, actor="bench")
    alive = [
        AgentSession(
            workspace=workspace, session_id=f"alive-{number}", token=token, last_seen_at=timezone.now(),
            agent_name=AGENTS[number % len(AGENTS)],
        )
        for number in range(40)
    ]  # fmt: skip
    AgentSession.objects.bulk_create(alive)
    return workspace


def fill(workspace_id: int, entries: int) -> None:
    """Append, seal and count this many entries that reach from `DAYS` ago until now."""
    story = _story(workspace_id, entries, random.Random(7))
    batch: list[tuple[NewEntry, datetime]] = []
    for one in story:
        batch.append(one)
        if len(batch) == BATCH:
            _append(batch)
            batch = []
    _append(batch)
    seal(workspace_id, after=0)
    count_sealed(workspace_id)


def _story(workspace_id: int, entries: int, dice: random.Random) -> Iterator[tuple[NewEntry, datetime]]:
    now = datetime.now(UTC)
    sessions = max(1, entries // ENTRIES_A_SESSION)
    step = timedelta(days=DAYS) / sessions
    for number in range(sessions):
        intent = min(INTENTS, 1 + int(dice.paretovariate(0.6)))
        session = Session(
            id=f"s-{number:06}",
            agent=dice.choices(AGENTS, (60, 25, 12, 3))[0],
            intent_id=f"INT-{intent:03}",
            began=now - timedelta(days=DAYS) + step * number,
            folder=f"{AREAS[(intent - 1) % len(AREAS)]}/{PARTS[(intent - 1) % len(PARTS)]}",
        )
        share = entries - (sessions - 1) * ENTRIES_A_SESSION if number == sessions - 1 else ENTRIES_A_SESSION
        for place in range(share):
            yield _entry(workspace_id, session, place, dice), session.began + step * place / share


def _entry(workspace_id: int, session: Session, place: int, dice: random.Random) -> NewEntry:
    path = f"{session.folder}/part{dice.randrange(6)}/file{dice.randrange(FILES_A_PART):03}.ts"
    common: dict[str, Any] = {
        "workspace_id": workspace_id, "session_id": session.id, "intent_id": session.intent_id,
        "agent": session.agent,
    }  # fmt: skip
    if place == 0:
        return NewEntry(kind="session", body={"event": "selected"}, outcome="selected", **common)
    if place % 3 == 2:
        author = MutationAuthor(session.id, session.intent_id, session.agent, session.agent)
        kind = "INTENT_EVOLUTION" if dice.random() < 0.3 else "AST_REFACTOR"
        digest = f"sha256:{dice.getrandbits(256):064x}"
        body = build_trace_entry(
            Mutation(path, content_hash=digest, start_line=1, end_line=40, mutation_class=kind), author
        )
        check = ClassCheck.DISAGREES if dice.random() < 0.002 else ClassCheck.AGREES
        return NewEntry(
            kind="trace", body=body, entry_id=body["id"], outcome=kind, reason=check.value, **common
        )
    tool = dice.choice(TOOLS)
    outcome, error_type, reason = dice.choice(REFUSALS) if dice.random() < 0.06 else ("allow", "", "")
    body = {
        "tool": tool, "input": {"file_path": path, "content": "x = 1\n" * 20}, "targets": [path],
        "classification": "SAFE" if tool in {"Read", "Grep"} else "DESTRUCTIVE", "answered": outcome,
        "error": reason, "tool_use_id": str(uuid.UUID(int=dice.getrandbits(128))),
    }  # fmt: skip
    return NewEntry(
        kind="decision", body=body, outcome=outcome, tool=tool, error_type=error_type, reason=reason, **common
    )


def _append(batch: list[tuple[NewEntry, datetime]]) -> None:
    made = [prepare(entry, at) for entry, at in batch]
    with transaction.atomic():
        ids = _insert(
            "traces_ledgerentry", COLUMNS, [tuple(one.row[name] for name in COLUMNS) for one in made]
        )
        bodies = [(row_id, one.salt, one.body) for row_id, one in zip(ids, made, strict=True)]
        _insert("traces_ledgerbody", ("entry_id", "salt", "body"), bodies)
        write_projections(
            RecordedTrace(row_id, entry.workspace_id, parse_entry(entry.body))
            for row_id, (entry, _) in zip(ids, batch, strict=True)
            if entry.kind == "trace"
        )


def _insert(table: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[int]:
    """The quickest way in; the ids of rows that have one: they follow one another, as nobody else writes."""
    names = ", ".join(columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            adapt = connection.ops.adapt_datetimefield_value
            values = [tuple(adapt(v) if isinstance(v, datetime) else v for v in row) for row in rows]
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
        if columns[0] == "entry_id":
            return []
        cursor.execute(f"SELECT max(id) FROM {table}")
        last = cursor.fetchone()[0]
    return list(range(last - len(rows) + 1, last + 1))
