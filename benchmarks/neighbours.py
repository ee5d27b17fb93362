"""A call of one workspace while another sends the dearest calls as fast as it can.

The bars: its median at most three times slower than alone, its 99th percentile at most ten times.

    python benchmarks/neighbours.py [--seconds 6] [--quick]

The neighbour is a process of its own with four connections; both are measured in the same run. Prints one
JSON object a line; exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.gate import Server, connect, drive, report, request, seeded

BARS = (("median", 3.0), ("p99", 10.0))
CONNECTIONS = 4
GATE = "/api/v1/gate"
DEAREST = {
    "patch": ("apply_patch", {"input": "*** Begin Patch\n" + "*** Add File: src/area0/f.ts\n+x\n" * 25_000}),
    "text": ("Write", {"file_path": "src/area0/a.ts", "content": 'password: "' * 80_000}),
    "command": ("Bash", {"command": "cat {a,b,c,d}{1..9}{x,y,z}.txt; " * 150}),
    "long command": ("Bash", {"command": "echo a && " * 6_000 + "true"}),
    "fields": ("mcp__x__y", {f"k{number}": "v" for number in range(50_000)}),
    "asks": ("Write", {"file_path": "docs/x.md", "content": "x" * 100}),
}


def send(connection: http.client.HTTPConnection, token: str, name: str, call_id: str) -> None:
    tool, tool_input = DEAREST[name]
    body = {"session_id": "bench-0", "tool": tool, "input": tool_input, "tool_use_id": call_id}
    request(connection, "POST", GATE, json.dumps(body).encode(), token)


def send_forever(port: int, token: str, name: str) -> None:
    """Send calls of one kind, each a new one, on four connections until the process is ended.

    Print a line when each connection has its first answer: from then on all four send without a pause.
    """
    answered = threading.Barrier(CONNECTIONS, action=lambda: print("sending", flush=True))

    def client(index: int) -> None:
        connection = connect(port)
        for number in itertools.count():
            send(connection, token, name, f"{index}-{time.time_ns()}")
            if number == 0:
                answered.wait()

    threads = [threading.Thread(target=client, args=(index,)) for index in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def wait_until_idle(port: int, token: str, name: str) -> None:
    """Wait until the neighbour's last calls are done: one more call of its kind is served after them."""
    send(connect(port), token, name, "last")


def measure(port: int, tokens: tuple[str, str], name: str, seconds: float) -> tuple[float, float]:
    """How many times slower the median and the 99th percentile are beside the neighbour."""
    mine, theirs = tokens
    alone = drive(port, mine, GATE, seconds, 1, "alone")[1]
    command = [sys.executable, __file__, "--neighbour", name, "--port", str(port)]
    environment = {**os.environ, "TOKEN": theirs}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as neighbour:
        assert neighbour.stdout is not None
        neighbour.stdout.readline()
        beside = drive(port, mine, GATE, seconds, 1, "beside")[1]
        neighbour.send_signal(signal.SIGKILL)
    wait_until_idle(port, theirs, name)
    median = statistics.median(beside) / statistics.median(alone)
    tails = [statistics.quantiles(times, n=100)[98] for times in (beside, alone)]
    return median, tails[0] / tails[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--neighbour", choices=DEAREST)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    if options.neighbour:
        send_forever(options.port, os.environ["TOKEN"], options.neighbour)
        return
    held = True
    with tempfile.TemporaryDirectory() as data:
        server = Server(data)
        server.manage("migrate", "-v0")
        with server:
            tokens = seeded(server, 10, 0)["token"], seeded(server, 10, 0)["token"]
            drive(server.port, tokens[0], GATE, 1, 1, "warm up")
            for name in DEAREST:
                seconds = 2 if options.quick else options.seconds
                figures = measure(server.port, tokens, name, seconds)
                for (kind, bar), figure in zip(BARS, figures, strict=True):
                    label, holds = f"neighbours/{name}/{kind}", figure <= bar
                    held &= report(label, figure, "ratio", f"<= {bar}", holds=holds)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
