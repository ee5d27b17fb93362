"""Two and four server processes beside one, on PostgreSQL and Redis, in one run.

On a machine of two cores, which clients and PostgreSQL share, two processes cannot serve twice the calls.
So the bars are by processor time: what a call costs a process, beyond what it spends idle, must not grow with
their number, and calls must not wait for each other's locks. Then each process adds what its core gives. Four
processes on two cores take turns, which costs each of them more, so their bar is lower.

    ICP_DATABASE_URL=postgres://… ICP_REDIS_URL=redis://… python benchmarks/nodes.py [--seconds 6] [--quick]

The bars: two processes at least 1.8 times one, four at least 2.5 times; PostgreSQL spends at most 1.3 times
as much on a call for four, and at most a statement of twenty waits for a lock. Calls a second are printed,
too.
Prints one JSON object a line; exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.gate import Server, drive, report, seeded

GATE = "/api/v1/gate"
CONNECTIONS = 8  # to each process
BARS = {2: 1.8, 4: 2.5}
MAX_DATABASE_GROWTH = 1.3
MAX_LOCK_WAITS = 0.05
TICKS = os.sysconf("SC_CLK_TCK")
LOOK_SECONDS = 0.02
WAITS = """SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'), count(*) FROM pg_stat_activity
    WHERE state = 'active' AND datname = current_database() AND pid <> pg_backend_pid()"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What calls took: of them a second, and seconds of processor time for each."""

    per_second: float
    server: float
    database: float


def read_processor_seconds(pid: int | str) -> float:
    """User and system time so far (proc(5), `stat`, fields 14 and 15); 0 when the process has gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def read_database_seconds() -> float:
    """All processes of PostgreSQL on this machine; 0 where it runs on another."""
    names = [path for path in Path("/proc").glob("[0-9]*/comm") if read_name(path) == "postgres"]
    return sum(read_processor_seconds(path.parent.name) for path in names)


def read_name(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def read_costs(servers: Sequence[Server]) -> tuple[float, float]:
    """Processor seconds of the servers and of PostgreSQL so far."""
    return sum(read_processor_seconds(server.process.pid) for server in servers), read_database_seconds()


def measure_idle(servers: Sequence[Server], seconds: float) -> float:
    """What a process spends in a second without calls: its loops and probes."""
    before, _ = read_costs(servers)
    time.sleep(seconds)
    return (read_costs(servers)[0] - before) / seconds / len(servers)


def measure(servers: Sequence[Server], token: str, seconds: float, idle: float) -> Cost:
    """Drive all of `servers` at the same time."""
    calls: list[int] = []

    def work(server: Server) -> None:
        calls.append(len(drive(server.port, token, GATE, seconds, CONNECTIONS, "gate")[1]))

    threads = [threading.Thread(target=work, args=(server,)) for server in servers]
    started = time.monotonic()
    before = read_costs(servers)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    server, database = (now - then for now, then in zip(read_costs(servers), before, strict=True))
    number = sum(calls)
    return Cost(number / took, (server - idle * took * len(servers)) / number, database / number)


@contextlib.contextmanager
def watch_locks(waits: list[float]) -> Iterator[None]:
    """Add the share of statements that waited for a lock, among those that ran."""
    done = threading.Event()
    seen = [0, 0]

    def look() -> None:
        with psycopg.connect(os.environ["ICP_DATABASE_URL"], autocommit=True) as connection:
            while not done.wait(LOOK_SECONDS):
                row = connection.execute(WAITS).fetchone()
                seen[0], seen[1] = seen[0] + row[0], seen[1] + row[1]

    watcher = threading.Thread(target=look)
    watcher.start()
    yield
    done.set()
    watcher.join()
    waits.append(seen[0] / max(seen[1], 1))


def compare(servers: Sequence[Server], token: str, seconds: float, rounds: int) -> bool:
    """All numbers of processes take turns, so that a drifting machine touches all alike."""
    costs: dict[int, list[Cost]] = {1: [], 2: [], 4: []}
    waits: list[float] = []
    measure(servers, token, 1, idle=0)
    idle = measure_idle(servers, seconds)
    report("nodes/idle_ms", idle * 1e3, "ms of processor time a second")
    for _ in range(rounds):
        for number, measured in costs.items():
            with watch_locks(waits) if number == 4 else contextlib.nullcontext():
                measured.append(measure(servers[:number], token, seconds, idle))
    for number, measured in costs.items():
        report(f"nodes/{number}/per_s", statistics.median(cost.per_second for cost in measured), "calls/s")
        spent = statistics.median(cost.server for cost in measured) * 1e3
        report(f"nodes/{number}/server_ms", spent, "ms of processor time a call")
    return all([*report_scale(costs), *report_bottleneck(costs, waits)])


def report_scale(costs: dict[int, list[Cost]]) -> Iterator[bool]:
    for number, bar in BARS.items():
        pairs = zip(costs[1], costs[number], strict=True)
        scale = statistics.median(number * one.server / many.server for one, many in pairs)
        name = f"nodes/{number}/by_processor_time"
        yield report(name, scale, "times one process", f">= {bar}", holds=scale >= bar)


def report_bottleneck(costs: dict[int, list[Cost]], waits: Sequence[float]) -> Iterator[bool]:
    pairs = zip(costs[1], costs[4], strict=True)
    growth = statistics.median(many.database / one.database if one.database else 0 for one, many in pairs)
    share = statistics.median(waits)
    for name, figure, bar in (
        ("database_beside_1", growth, MAX_DATABASE_GROWTH),
        ("lock_waits", share, MAX_LOCK_WAITS),
    ):
        yield report(f"nodes/4/{name}", figure, "ratio", f"<= {bar}", holds=figure <= bar)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if not (
        os.environ.get("ICP_DATABASE_URL", "").startswith("postgres") and os.environ.get("ICP_REDIS_URL")
    ):
        left_out = "several processes need ICP_DATABASE_URL and ICP_REDIS_URL"
        print(json.dumps({"name": "nodes", "left_out": left_out}))
        return
    seconds, rounds = (2.0, 2) if options.quick else (options.seconds, options.rounds)
    with tempfile.TemporaryDirectory() as data, contextlib.ExitStack() as running:
        servers = [Server(data) for _ in range(4)]
        servers[0].manage("migrate", "-v0")
        token = seeded(servers[0], 10, 0)["token"]
        for server in servers:
            running.enter_context(server)
        held = compare(servers, token, seconds, rounds)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
