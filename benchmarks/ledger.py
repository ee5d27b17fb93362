"""The ledger in process: appends beside bare inserts, empty and full; proofs, verification, import.

    python benchmarks/ledger.py [--quick]

Works on a scratch database beside the configured one (ICP_DATABASE_URL is used when set) and drops it. Prints
one JSON object a line; exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["ICP_DATA_DIR"] = SCRATCH = tempfile.mkdtemp()
os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"

import django

django.setup()

from django.db import connection, transaction  # noqa: E402

from traces.entries.deduplicate import SubmittedEntry  # noqa: E402
from traces.entries.record import StoreOptions, store_entries  # noqa: E402
from traces.interchange.imports.import_file import TraceImportOptions, import_file  # noqa: E402
from traces.ledger import proofs  # noqa: E402
from traces.ledger.append import NewEntry, append, append_many  # noqa: E402
from traces.ledger.sealing import seal  # noqa: E402
from traces.management.commands.import_traces import COMMIT_EVERY  # noqa: E402
from traces.models import LedgerEntry, LedgerLeaf  # noqa: E402
from traces.verification.verify import verify  # noqa: E402

HOME, BARE, IMPORTED = 1, 2, 3
PUBLIC, PARENT = object(), object()  # what a bare insert fills in: a fresh public id, the parent's row id
EVIDENCE = ["traces_ledgerentry", "traces_ledgerbody"]
PROJECTIONS = ["traces_traceentry", "traces_tracefile", "traces_tracerange"]
ROUND_SECONDS = 0.5
POSTED = 5_000  # entries a round, made beforehand as a client would; more than a round can post
BULK_ENTRIES, BULK_ROWS = 20_000, 60  # copied by bare inserts; rows a statement
FAR = 10**9  # beyond every row id that is in use
FIRST = 70_000  # lines that fill the 128 MiB which SQLite gets for an import


def decision() -> NewEntry:
    body = {
        "tool": "Write",
        "input": {"file_path": "src/a.ts", "content": "x = 1\n" * 40},
        "targets": ["src/a.ts"],
    }
    return NewEntry(
        HOME, "decision", body, session_id="s-1", intent_id="INT-001", outcome="allow", tool="Write"
    )


def trace(number: int) -> dict[str, object]:
    lines = {"start_line": 1, "end_line": 50, "content_hash": "sha256:" + "ab" * 32}
    talk = {
        "url": f"s-{number % 50}",
        "contributor": {"entity_type": "AI", "model_identifier": "model-x"},
        "ranges": [lines],
        "related": [{"type": "specification", "value": f"INT-{number % 20:03}"}],
    }
    files = [{"relative_path": f"src/area{number % 10}/file{number % 997}.ts", "conversations": [talk]}]
    return {
        "id": str(uuid.uuid4()), "timestamp": f"2026-02-{1 + number // 86400 % 28:02}T{clock(number)}.120Z",
        "vcs": {"revision_id": "a" * 40}, "files": files,
    }  # fmt: skip


def clock(seconds: int) -> str:
    return f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def in_transaction(work: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        with transaction.atomic():
            work()

    return run


def plain_inserts(tables: list[str], sample: int) -> Callable[[], None]:
    """The rows of the entry `sample` again, under another workspace and fresh ids, by bare INSERTs."""
    statements = [insert_like(table, sample) for table in tables]
    numbers = iter(range(10**9))

    def work() -> None:
        fresh, row_id = f"bare-{next(numbers)}", None
        with connection.cursor() as cursor:
            for sql, values in statements:
                cursor.execute(sql, [{PUBLIC: fresh, PARENT: row_id}.get(value, value) for value in values])
                if sql.endswith("RETURNING id"):
                    row_id = cursor.fetchall()[0][0]

    return in_transaction(work)


def insert_like(table: str, sample: int) -> tuple[str, list[Any]]:
    key = {"traces_ledgerentry": "id", "traces_tracerange": "file_id"}.get(table, "entry_id")
    of = LedgerEntry.objects.get(pk=sample).files.get().pk if key == "file_id" else sample
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} WHERE {key} = %s", [of])
        row = dict(zip([one[0] for one in cursor.description], cursor.fetchone(), strict=True))
    row.pop("id", None)
    public = {"entry_id": PUBLIC} if table == "traces_ledgerentry" else {key: PARENT}
    row |= public | ({"workspace_id": BARE} if "workspace_id" in row else {})
    returning = " RETURNING id" if table in {"traces_ledgerentry", "traces_tracefile"} else ""
    sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))}){returning}"
    return sql, list(row.values())


def rate(work: Callable[[], object]) -> float:
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < ROUND_SECONDS:
        work()
        count += 1
    return count / (time.perf_counter() - began)


def in_turn(*works: Callable[[], object], rounds: int) -> list[list[float]]:
    """Rates in rounds in which all take turns, so that a drifting machine touches all alike."""
    for work in works:
        work()
    return [[rate(work) for work in works] for _ in range(rounds)]


def report(name: str, figure: float, unit: str, bar: str = "", *, holds: bool = True) -> bool:
    line = {"name": f"ledger.{name}", "figure": round(figure, 3), "unit": unit, "bar": bar, "holds": holds}
    print(json.dumps(line), flush=True)
    return holds


def beside_plain_inserts(rounds: int) -> bool:
    with transaction.atomic():
        made = append(decision())
        assert made is not None
        posted = store_entries(HOME, [SubmittedEntry(trace(0))], StoreOptions("bench")).appended[0]
    bare = plain_inserts(EVIDENCE, made.id)
    bare_trace = plain_inserts(EVIDENCE + PROJECTIONS, posted.id)
    sent = iter([trace(number) for number in range(1, 1 + POSTED * (1 + rounds))])
    works = (
        in_transaction(lambda: append(decision())),
        bare,
        in_transaction(lambda: store_entries(HOME, [SubmittedEntry(next(sent))], StoreOptions("bench"))),
        bare_trace,
    )
    rates = in_turn(*works, rounds=rounds)
    appends, _, posts, _ = (statistics.median(column) for column in zip(*rates, strict=True))
    append_ratio = statistics.median(row[0] / row[1] for row in rates)
    post_ratio = statistics.median(row[2] / row[3] for row in rates)
    report("append", appends, "entries/s")
    report("post", posts, "entries/s")
    held = report("append_beside_plain_inserts", append_ratio, "ratio", ">= 0.5", holds=append_ratio >= 0.5)
    return (
        report("post_beside_plain_inserts", post_ratio, "ratio", ">= 0.5", holds=post_ratio >= 0.5) and held
    )


def flat_while_it_grows(entries: int, rounds: int) -> bool:
    work = in_transaction(lambda: append(decision()))
    before = statistics.median(rate(work) for _ in range(rounds))
    began = time.perf_counter()
    for _ in range(entries // 1000):
        with transaction.atomic():
            append_many(decision() for _ in range(1000))
    report("append_many", entries / (time.perf_counter() - began), "entries/s")
    began = time.perf_counter()
    sealed = seal(HOME)
    report("seal", sealed.entries / (time.perf_counter() - began), "entries/s")
    after = statistics.median(rate(work) for _ in range(rounds))
    slower = before / after
    return report(f"append_slower_with_{entries}_entries", slower, "ratio", "<= 1.3", holds=slower <= 1.3)


def verification(workspace_id: int) -> bool:
    began = time.perf_counter()
    found = verify(workspace_id)
    report("verify", found.checked / (time.perf_counter() - began), "entries/s")
    return report("verifies", float(found.ok), "yes or no", "1", holds=found.ok)


def inclusion_proofs(workspace_id: int) -> bool:
    """Hold a proof to a few times the query that finds the entry, in the same run."""
    size = seal(workspace_id).size
    taken, ratios = [], []
    for seq in range(0, size, max(1, size // 200)):
        began = time.perf_counter()
        entry = LedgerLeaf.objects.select_related("entry").get(workspace_id=workspace_id, seq=seq).entry
        found = time.perf_counter()
        proofs.prove_inclusion(entry, size)
        proven = time.perf_counter()
        taken.append((proven - found) * 1000)
        ratios.append((proven - found) / (found - began))
    report(f"inclusion_proof_of_{size}", statistics.median(taken), "ms")
    ratio = statistics.median(ratios)
    return report("inclusion_proof_beside_query", ratio, "ratio", "<= 10", holds=ratio <= 10)


def importing(lines: int) -> bool:
    """Lines a second of a file on disk beside bare inserts of the same rows, and how much more memory it
    takes than a first, smaller file.

    The bare inserts are the best that SQL offers: many rows a statement, one transaction. They are measured
    before and after, so that both sides meet the same machine. A second process prepares what this one
    writes; the processor time of each is told beside.
    """
    how = TraceImportOptions(IMPORTED, "bench", source="small", commit_every=COMMIT_EVERY, use_worker=True)
    small, large = _ledger_file(FIRST), _ledger_file(lines)
    with small.open("rb") as file:
        import_file(file.read, how)
    bare = bulk_insert_rate()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, own, others = time.perf_counter(), _used(resource.RUSAGE_SELF), _used(resource.RUSAGE_CHILDREN)
    with large.open("rb") as file:
        done = import_file(file.read, replace(how, source="large"))
    speed = lines / (time.perf_counter() - began)
    writing = 1e6 * (_used(resource.RUSAGE_SELF) - own) / lines
    preparing = 1e6 * (_used(resource.RUSAGE_CHILDREN) - others) / lines
    assert done.entries == lines
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    report("import_writing", writing, "us of processor time a line")
    report("import_preparing", preparing, "us of processor time a line")
    report("import", speed, "lines/s")
    ratio = speed / statistics.mean((bare, bulk_insert_rate()))
    held = report("import_beside_plain_inserts", ratio, "ratio", ">= 0.2", holds=ratio >= 0.2)
    return (
        report(f"import_memory_beyond_{FIRST}_lines", grown, "MiB more", "<= 48", holds=grown <= 48) and held
    )


def bulk_insert_rate() -> float:
    """Entries a second when the rows of imported entries are inserted again, under new row ids."""
    newest = list(LedgerEntry.objects.for_workspace(IMPORTED).order_by("-pk").values_list("pk", flat=True))
    entries = sorted(newest[:BULK_ENTRIES])
    copies = [_bulk_copy(table, entries) for table in EVIDENCE + PROJECTIONS]
    began = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        for sql, rows in copies:
            for start in range(0, len(rows), BULK_ROWS):
                batch = rows[start : start + BULK_ROWS]
                values = ", ".join([f"({', '.join(['%s'] * len(batch[0]))})"] * len(batch))
                cursor.execute(f"{sql} VALUES {values}", [value for row in batch for value in row])
        seconds = time.perf_counter() - began
        transaction.set_rollback(True)  # nothing of it stays for what is measured later
    return len(entries) / seconds


def _bulk_copy(table: str, entries: list[int]) -> tuple[str, list[list[Any]]]:
    """(INSERT, the rows of these entries under ids that no row has)."""
    first, last = entries[0], entries[-1]
    chosen = f"SELECT id FROM traces_tracefile WHERE entry_id BETWEEN {first} AND {last}"
    key = {"traces_ledgerentry": "id", "traces_tracerange": "file_id"}.get(table, "entry_id")
    where = f"IN ({chosen})" if key == "file_id" else f"BETWEEN {first} AND {last}"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} WHERE {key} {where}")
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
    replaced = {"workspace_id": lambda _: BARE} | {
        name: (lambda value: value + FAR) for name in ("id", "entry_id", "file_id") if name in names
    }
    if table == "traces_ledgerentry":
        replaced["entry_id"] = lambda value: f"bulk-{value}"
    change = [replaced.get(name, lambda value: value) for name in names]
    copies = [[function(value) for function, value in zip(change, row, strict=True)] for row in rows]
    return f"INSERT INTO {table} ({', '.join(names)})", copies


def _used(whose: int) -> float:
    told = resource.getrusage(whose)
    return told.ru_utime + told.ru_stime


def _ledger_file(lines: int) -> Path:
    path = Path(SCRATCH) / f"{lines}.jsonl"
    with path.open("wb") as file:
        file.writelines(json.dumps(trace(number)).encode() + b"\n" for number in range(lines))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the entries")
    quick = parser.parse_args().quick
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        held = beside_plain_inserts(rounds=3 if quick else 7)
        held &= flat_while_it_grows(20_000 if quick else 200_000, rounds=3 if quick else 7)
        held &= verification(HOME)
        held &= importing(350_000 if quick else 1_000_000)
        held &= inclusion_proofs(IMPORTED)
    finally:
        connection.creation.destroy_test_db(connection.settings_dict["NAME"], verbosity=0)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
