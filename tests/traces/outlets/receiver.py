"""Somebody outside who listens: a real HTTP server that keeps what it was sent."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """`answers` are given in turn, the last one for ever."""

    url: str = ""
    posts: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=lambda: [(204, {})])

    def bodies(self):
        return [body for _, _, body in self.posts]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        receiver.posts.append((self.path, headers, body))
        status, extra = receiver.answers[0]
        if len(receiver.answers) > 1:
            receiver.answers.pop(0)
        self.send_response(status)
        for name, value in extra.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        pass


def listening():
    """A receiver and the server behind it, which the caller shuts down."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook?from=icp")
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server
