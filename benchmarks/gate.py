"""The gate beside a view that does nothing, in one run on one server.

The bars: at least its throughput on SQLite, 0.6 of it on PostgreSQL; one caller's slowest call of a hundred
takes at most five times the median. The tail of the no-op view stands beside it: it tells how quiet the
machine is.

    python benchmarks/gate.py [--seconds 4] [--quick]

Starts the product's own server on a scratch database (ICP_DATABASE_URL is used when set), seeds it, and
drives both with the same 8 connections, in turn. Prints one JSON object a line; exit status 1 when a bar
does not hold.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Self

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CONNECTIONS = 8
MAX_TAIL = 5.0  # the 99th percentile beside the median


class Server:
    """The product's server with the benchmark's routes beside its own."""

    def __init__(self, data: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.env = os.environ | {
            "ICP_DATA_DIR": data, "ICP_PORT": str(self.port), "ICP_RATE_PER_MINUTE": "0",
            "DJANGO_SETTINGS_MODULE": "benchmarks.settings", "PYTHONPATH": str(ROOT),
        }  # fmt: skip

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.env, check=True, capture_output=True, text=True)
        return done.stdout

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve"], cwd=ROOT, env=self.env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for _ in range(200):
            try:
                if request(connect(self.port), "GET", "/healthz")[0] == 200:
                    return self
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the server did not start")

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


def connect(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=30)


def request(
    connection, method: str, path: str, body: bytes | None = None, token: str = ""
) -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def call(number: int, session: str) -> bytes:
    """One allowed write of an ordinary size."""
    content = f"export const n = {number};\n" * 20
    tool_input = {"file_path": f"src/area0/file{number % 50}.ts", "content": content}
    return json.dumps(
        {"session_id": session, "tool": "Write", "input": tool_input, "tool_use_id": f"{session}-{number}"}
    ).encode()


def drive(
    port: int, token: str, path: str, seconds: float, connections: int, label: str
) -> tuple[float, list[float]]:
    """(requests a second, latencies in seconds) of `connections` clients that ask without a pause."""
    latencies: list[list[float]] = [[] for _ in range(connections)]
    stop = time.perf_counter() + seconds

    def client(index: int) -> None:
        connection, number = connect(port), 0
        session = f"bench-{index}"
        while time.perf_counter() < stop:
            body = call(int(time.time_ns() % 10**15), session)
            began = time.perf_counter()
            status, answer = request(connection, "POST", path, body, token)
            latencies[index].append(time.perf_counter() - began)
            if status != 200 or b'"deny"' in answer or b'"ask"' in answer:
                raise SystemExit(f"{label}: {status} {answer[:300]!r}")
            number += 1

    threads = [threading.Thread(target=client, args=(index,)) for index in range(connections)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    flat = [value for one in latencies for value in one]
    return len(flat) / (time.perf_counter() - began), flat


def measure(port: int, token: str, seconds: float, rounds: int) -> dict[str, float]:
    """Medians over rounds in which both take turns, so that a drifting machine touches both alike."""
    drive(port, token, "/api/v1/gate", 1, CONNECTIONS, "warm up")
    drive(port, token, "/bench/noop", 1, CONNECTIONS, "warm up")
    noop, gate, single_noop, single_gate = [], [], [], []
    for _ in range(rounds):
        noop.append(drive(port, token, "/bench/noop", seconds, CONNECTIONS, "noop")[0])
        gate.append(drive(port, token, "/api/v1/gate", seconds, CONNECTIONS, "gate")[0])
        single_noop += drive(port, token, "/bench/noop", seconds / 3, 1, "noop")[1]
        single_gate += drive(port, token, "/api/v1/gate", seconds / 3, 1, "gate")[1]
    return {
        "noop_per_s": statistics.median(noop),
        "gate_per_s": statistics.median(gate),
        "ratio": statistics.median(g / n for g, n in zip(gate, noop, strict=True)),
        "noop_p50_ms": statistics.median(single_noop) * 1000,
        "noop_p99_ms": statistics.quantiles(single_noop, n=100)[98] * 1000,
        "gate_p50_ms": statistics.median(single_gate) * 1000,
        "gate_p99_ms": statistics.quantiles(single_gate, n=100)[98] * 1000,
    }


def seeded(server: Server, intents: int, entries: int) -> dict[str, str]:
    text = server.manage("seed_benchmark", "--intents", str(intents), "--entries", str(entries))
    return json.loads(text.strip().splitlines()[-1])


def report(name: str, figure: float, unit: str, bar: str = "", *, holds: bool = True) -> bool:
    line = {"name": name, "figure": round(figure, 3), "unit": unit, "bar": bar, "holds": holds}
    print(json.dumps(line), flush=True)
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="Short runs, fewer ledger entries.")
    options = parser.parse_args()
    seconds, rounds, many = (1.5, 2, 20_000) if options.quick else (options.seconds, options.rounds, 200_000)
    postgres = os.environ.get("ICP_DATABASE_URL", "").startswith("postgres")
    kind, bar = ("postgresql", 0.6) if postgres else ("sqlite", 1.0)
    held = True
    with tempfile.TemporaryDirectory() as data:
        server = Server(data)
        server.manage("migrate", "-v0")
        with server:
            token = seeded(server, 10, 0)["token"]
            figures = measure(server.port, token, seconds, rounds)
            for name in ("noop_per_s", "gate_per_s"):
                report(f"gate/{kind}/{name}", figures[name], "requests/s")
            for name in ("noop_p50_ms", "noop_p99_ms", "gate_p50_ms", "gate_p99_ms"):
                report(f"gate/{kind}/{name}", figures[name], "ms")
            ratio = figures["ratio"]
            held &= report(
                f"gate/{kind}/throughput_beside_noop", ratio, "ratio", f">= {bar}", holds=ratio >= bar
            )
            for view in ("noop", "gate"):
                figures[f"{view}_tail"] = figures[f"{view}_p99_ms"] / figures[f"{view}_p50_ms"]
            report(f"gate/{kind}/noop_p99_beside_median", figures["noop_tail"], "ratio")
            tail, name = figures["gate_tail"], f"gate/{kind}/p99_beside_median"
            held &= report(name, tail, "ratio", f"<= {MAX_TAIL:.0f}", holds=tail <= MAX_TAIL)
            held &= flatness(
                server, kind, "intents_10_to_1000", token, seconds, rounds, intents=1000, entries=0
            )
            held &= flatness(
                server, kind, f"entries_0_to_{many}", token, seconds, rounds, intents=10, entries=many
            )
    sys.exit(0 if held else 1)


def flatness(
    server: Server,
    kind: str,
    name: str,
    token: str,
    seconds: float,
    rounds: int,
    *,
    intents: int,
    entries: int,
) -> bool:
    """How much slower one client's call gets in a large workspace than in a small one, measured in turn."""
    large = seeded(server, intents, entries)["token"]
    ratios = []
    for _ in range(rounds + 1):
        small_times = drive(server.port, token, "/api/v1/gate", seconds / 2, 1, "small")[1]
        large_times = drive(server.port, large, "/api/v1/gate", seconds / 2, 1, "large")[1]
        ratios.append(statistics.median(large_times) / statistics.median(small_times))
    ratio = statistics.median(ratios[1:])
    return report(f"gate/{kind}/slower_{name}", ratio, "ratio", "<= 1.3", holds=ratio <= 1.3)


if __name__ == "__main__":
    main()
