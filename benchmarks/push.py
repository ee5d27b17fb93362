"""How long an event takes to open pages, and what it costs them, beside a bare broadcast to as many sockets.

    python benchmarks/push.py [--events 60] [--sockets 200] [--quick]

An agent's call that asks is timed from its request to the message on each page, and a bare `websockets`
server that sends the same text to as many sockets is timed in turn. Measured are queues, and pages of five
kinds, on one server process; with ICP_DATABASE_URL (PostgreSQL) and ICP_REDIS_URL also queues on a second
process, which hears of the call over Redis. The bars are ratios of 95th percentiles; the milliseconds are
told beside them (promised for queues, on a machine with nothing else to do: 100, and 300 over Redis). The
bytes that one event costs a page are told beside those of the rows that it changes there. Prints one JSON
object a line; exit status 1 when a bar does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from websockets.asyncio.client import connect as connect_socket
from websockets.asyncio.server import broadcast, serve

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.gate import Server, connect, report, request, seeded

SESSION = "bench-0"
QUEUE = ("queue",)
MIXED = ("queue", "sessions", f"timeline?session={SESSION}&show=&q=", "overview", "")
QUIET_SECONDS = 0.3  # after the last message of an event
BARS = {"queues": 4.0, "mixed": 10.0, "queues_over_redis": 8.0}  # times a bare broadcast
MAX_BYTES_RATIO = 1.5
Texts = dict[str, list[str]]


@dataclass
class Pages:
    """Open sockets. `arrived` has the time of the awaited message on each of them, `texts` all by view."""

    sockets: int
    is_awaited: Callable[[str], bool]
    arrived: list[float] = field(default_factory=list)
    texts: Texts = field(default_factory=lambda: defaultdict(list))
    complete: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, stack: AsyncExitStack, address: str, view: str, **options: object) -> None:
        page = await stack.enter_async_context(connect_socket(address, **options))
        task = asyncio.create_task(self._read(page, view))
        stack.callback(task.cancel)

    async def _read(self, page, view: str) -> None:
        async for text in page:
            now = time.perf_counter()
            self.texts[view].append(text)
            if self.is_awaited(text):
                self.arrived.append(now)
                if len(self.arrived) == self.sockets:
                    self.complete.set()

    async def time(self, act: Callable[[], object]) -> list[float]:
        """Seconds from the beginning of `act` to the awaited message on each page."""
        self.arrived.clear()
        self.complete.clear()
        began = time.perf_counter()
        acting = asyncio.ensure_future(asyncio.to_thread(act))
        await asyncio.wait_for(self.complete.wait(), 30)
        await acting
        return [at - began for at in self.arrived]


class Asker:
    """An agent whose every call needs a person."""

    def __init__(self, port: int, token: str) -> None:
        self.connection, self.token, self.number = connect(port), token, 0

    def __call__(self) -> None:
        self.number += 1
        tool_input = {"file_path": f"docs/{self.number}/page.md", "content": "A line of text.\n" * 20}
        body = {"session_id": SESSION, "tool": "Write", "input": tool_input, "tool_use_id": str(self.number)}
        status, answer = request(
            self.connection, "POST", "/api/v1/gate", json.dumps(body).encode(), self.token
        )
        if status != 200 or b'"ask"' not in answer:
            raise SystemExit(f"the call was not held: {status} {answer[:300]!r}")


async def open_pages(
    stack: AsyncExitStack, port: int, seed: dict[str, str], sockets: int, views: tuple[str, ...]
) -> Pages:
    pages = Pages(sockets, lambda text: '"type":"approval.requested"' in text)
    host = f"127.0.0.1:{port}"
    headers = {"Cookie": f"sessionid={seed['cookie']}"}
    for number in range(sockets):
        view = views[number % len(views)]
        address = f"ws://{host}/ws/workspaces/{seed['workspace']}/?show={view.replace('&', '%26')}"
        await pages.open(stack, address, view, origin=f"http://{host}", additional_headers=headers)
    return pages


async def open_bare(stack: AsyncExitStack, port: int, sockets: int) -> tuple[Pages, Callable[[str], None]]:
    """As many sockets on the bare server, and what makes it send a text to all of them."""
    pages = Pages(sockets, lambda _: True)
    for _ in range(sockets):
        await pages.open(stack, f"ws://127.0.0.1:{port}/page", "bare")
    sender = await stack.enter_async_context(connect_socket(f"ws://127.0.0.1:{port}/send"))
    loop = asyncio.get_running_loop()
    return pages, lambda text: asyncio.run_coroutine_threadsafe(sender.send(text), loop).result()


async def serve_bare(port: int) -> None:
    """Send whatever comes on /send to every other socket; runs until the process is ended."""
    pages = set()

    async def handle(connection) -> None:
        if connection.request.path == "/send":
            async for text in connection:
                broadcast(pages, text)
        pages.add(connection)
        await connection.wait_closed()
        pages.discard(connection)

    async with serve(handle, "127.0.0.1", port):
        await asyncio.Event().wait()


async def measure(
    ports: tuple[int, int, int], seed: dict[str, str], events: int, sockets: int, views: tuple[str, ...]
) -> tuple[list[float], list[float], Texts]:
    """(seconds of pushes, seconds of bare broadcasts, texts of one event by view)."""
    asks, pages_port, bare_port = ports
    async with AsyncExitStack() as stack:
        pages = await open_pages(stack, pages_port, seed, sockets, views)
        bare, send = await open_bare(stack, bare_port, sockets)
        asker = Asker(asks, seed["token"])
        for _ in range(5):
            await pages.time(asker)
        await asyncio.sleep(QUIET_SECONDS)
        pages.texts.clear()
        await pages.time(asker)
        await asyncio.sleep(QUIET_SECONDS)
        texts = {view: list(of_view) for view, of_view in pages.texts.items()}
        text = max((one for of_view in texts.values() for one in of_view), key=len)
        pushed, broadcasts = [], []
        for _ in range(events):
            pushed += await pages.time(asker)
            broadcasts += await bare.time(lambda: send(text))
            await asyncio.sleep(0.05)  # longer than the server waits to gather a burst
        return pushed, broadcasts, texts


def row_bytes(texts: list[str]) -> int:
    """The bytes of the HTML that messages bring."""
    size = 0
    for message in map(json.loads, texts):
        queue = message.get("queue", {})
        rows = [queue.get(name, "") for name in ("row", "strip", "ended")]
        rows += [change["html"] for change in message.get("changes", ())]
        size += sum(len(row.encode()) for row in rows)
    return size


def report_bytes(texts: Texts, sockets: int) -> bool:
    """What one event costs a page of each kind beside the rows that it changes there."""
    held = True
    for number, view in enumerate(MIXED):
        pages = len(range(number, sockets, len(MIXED)))
        name = f"push/bytes/{view.partition('?')[0] or 'other'}"
        size = sum(len(text.encode()) for text in texts[view]) / pages
        rows = row_bytes(texts[view]) / pages
        report(name, size, "bytes")
        if rows:
            report(f"{name}/own_rows", rows, "bytes")
            ratio = size / rows
            held &= report(
                f"{name}/beside_own_rows",
                ratio,
                "ratio",
                f"<= {MAX_BYTES_RATIO}",
                holds=ratio <= MAX_BYTES_RATIO,
            )
    return held


def report_times(name: str, pushed: list[float], broadcasts: list[float]) -> bool:
    percentiles = {}
    for kind, times in (("push", pushed), ("bare_broadcast", broadcasts)):
        percentiles[kind] = statistics.quantiles(times, n=20)[18]
        report(f"push/{name}/{kind}_p50", statistics.median(times) * 1000, "ms")
        report(f"push/{name}/{kind}_p95", percentiles[kind] * 1000, "ms")
    ratio, bar = percentiles["push"] / percentiles["bare_broadcast"], BARS[name]
    return report(f"push/{name}/p95_beside_bare", ratio, "ratio", f"<= {bar}", holds=ratio <= bar)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(name: str, servers: list[Server], bare_port: int, events: int, sockets: int) -> bool:
    """Measure calls to the first server and pages on the last one."""
    seed = seeded(servers[0], 10, 0)
    ports = servers[0].port, servers[-1].port, bare_port
    views = MIXED if name == "mixed" else QUEUE
    pushed, broadcasts, texts = asyncio.run(measure(ports, seed, events, sockets, views))
    held = report_times(name, pushed, broadcasts)
    return held & (report_bytes(texts, sockets) if name == "mixed" else True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=60)
    parser.add_argument("--sockets", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="20 events")
    parser.add_argument("--bare", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        asyncio.run(serve_bare(options.bare))
        return
    events, bare_port = 20 if options.quick else options.events, free_port()
    bare = subprocess.Popen([sys.executable, __file__, "--bare", str(bare_port)])
    redis = os.environ.pop("ICP_REDIS_URL", "")
    try:
        with tempfile.TemporaryDirectory() as data:
            alone = Server(data)
            alone.manage("migrate", "-v0")
            with alone:
                held = run("queues", [alone], bare_port, events, options.sockets)
                held &= run("mixed", [alone], bare_port, events, options.sockets)
            if redis and os.environ.get("ICP_DATABASE_URL", "").startswith("postgres"):
                os.environ["ICP_REDIS_URL"] = redis
                with Server(data) as first, Server(data) as second:
                    held &= run("queues_over_redis", [first, second], bare_port, events, options.sockets)
            else:
                needed = "Left out: it takes ICP_DATABASE_URL (PostgreSQL) and ICP_REDIS_URL."
                print(json.dumps({"name": "push/queues_over_redis", "note": needed}), flush=True)
    finally:
        bare.terminate()
        bare.wait()
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
