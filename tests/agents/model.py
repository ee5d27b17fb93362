"""A model that follows a script, on a loopback port: the agents' own servers are never asked.

It keeps no conversation: how far one is says the number of tool results in the request itself, so that a
client which asks twice is answered the same twice. What a test wants done between two calls of the agent (a
handshake, a decision, the end of a server) is the `before` of a step, done once.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.agents.cursor import Runs
from tests.agents.dialects import DIALECTS, Asked, Call, Event, Reply

WAIT_SECONDS = 30
# in the form of each dialect that asks, Cursor's last
MODELS: dict[str, Any] = {
    "object": "list",
    "data": [],
    "models": [],
    "items": [{"id": "stub-model", "displayName": "stub"}],
}


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    call: Call
    before: Callable[[], object] | None = None


class ModelServer(ThreadingHTTPServer):
    """`script` maps what the user said to steps, the first that fits wins. `told`: step → its call's result."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.script: dict[str, list[Step]] = {}
        self.told: dict[str, str] = {}
        self.said: dict[str, str] = {}
        self.problems: list[str] = []
        self.cursor = Runs(self.reply)
        self._done: set[str] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """A client that is ended hangs up."""

    def reply(self, asked: Asked) -> Reply:
        """The next step of the conversation; a question without tools (a title, a summary) is none."""
        fits = [name for name in self.script if name in asked.said]
        if not asked.tools or not fits:
            return Reply("Fine.")
        name, steps, at = fits[0], self.script[fits[0]], len(asked.results)
        self.said[name] = asked.said
        for step, result in zip(steps, asked.results, strict=False):
            self.told[step.name] = result
        if at >= len(steps):
            return Reply("Done.", id=f"{name.split()[0]}{at}")
        self._prepare(steps[at])
        return Reply(call=steps[at].call, id=f"{name.split()[0]}{at}")

    def _prepare(self, step: Step) -> None:
        with self._lock:
            first = step.name not in self._done
            self._done.add(step.name)
        if step.before and first:
            try:
                step.before()
            except Exception as error:  # noqa: BLE001  told by the test, for the client would only ask again
                self.problems.append(f"before {step.name!r}: {error!r}")

    def await_results(self, *names: str) -> None:
        """Until the calls of these steps, of another conversation, have come back."""
        ends = time.monotonic() + WAIT_SECONDS
        while not set(names) <= set(self.told):
            assert time.monotonic() < ends, f"no result of {set(names) - set(self.told)}"
            time.sleep(0.05)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def do_HEAD(self) -> None:
        self.send("application/json", b"{}")

    def do_GET(self) -> None:
        self.send("application/json", json.dumps(MODELS).encode())

    def do_POST(self) -> None:
        raw, path = self.raw(), self.path.split("?")[0]
        if self.server.cursor.takes(path, self.headers):
            self.server.cursor.answer(self, path, raw)
            return
        body = json.loads(raw or b"{}")
        dialect = next((DIALECTS[end] for end in DIALECTS if path.endswith(end)), None)
        if dialect is None:
            self.send("application/json", b'{"input_tokens": 10, "totalTokens": 10}')
            return
        read, write = dialect
        events = write(self.server.reply(read(body)), body)
        if body.get("stream") or ":stream" in path:
            self.send("text/event-stream", b"".join(lines(events)))
        else:
            self.send("application/json", json.dumps(next(iter(events))[1]).encode())

    def raw(self) -> bytes:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        return raw

    def send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Tests read `told`, not a log."""


def lines(events: Iterable[Event]) -> Iterable[bytes]:
    for name, data in events:
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()
