"""A developer's machine: a home, a repository, the program as it is served, and a stub of the control plane."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from controlplane.client.agents import CLIENTS
from controlplane.shared.client_download import build_client

PATH = os.environ.get("PATH", "/usr/bin:/bin")
ALLOWED = {"X-ICP-Decision": "allow"}
SLOW_SECONDS = 3


class Machine:
    def __init__(self, folder: Path) -> None:
        self.home, self.repository, self.file = folder / "home", folder / "repository", folder / "icp.py"
        self.home.mkdir()
        self.repository.mkdir()
        (self.repository / ".git").mkdir()
        self.file.write_text(build_client(), encoding="utf-8")
        self.config = self.home / ".config" / "icp"
        self.launcher = self.config / "hook"
        self.place = self.repository  # where an agent is started

    def run(self, *command: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.repository, input=given, capture_output=True, text=True, timeout=30, check=False,
            env={"HOME": str(self.home), "PATH": PATH, **env},
        )  # fmt: skip

    def icp(self, *arguments: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        """The downloaded file itself, as the documentation runs it."""
        return self.run(sys.executable, "-I", "-S", str(self.file), *arguments, given=given, **env)

    def connect(self, agent: str, url: str = "http://127.0.0.1:9") -> subprocess.CompletedProcess[str]:
        done = self.icp("connect", agent, "--url", url, ICP_TOKEN="icp_secret")
        assert done.returncode == 0, done.stderr
        return done

    def hook(self, agent: str, event: str = "", payload: object = None, **env: str):
        """The installed hook; before a tool where no event is named."""
        given = payload if isinstance(payload, str) else json.dumps(payload or {"session_id": "s-1"})
        event = event or CLIENTS[agent].gates.split()[0]
        return self.run(str(self.launcher), agent, event, given=given, **env)

    def text(self, agent: str) -> str:
        return (self.repository / CLIENTS[agent].file).read_text(encoding="utf-8")


@dataclass
class Reply:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: dict(ALLOWED))
    cut: int = 0  # so many bytes are promised and never sent
    seconds: float = 0


FAULTS = {
    "slow": Reply(seconds=SLOW_SECONDS),
    "error": Reply(500, b"<h1>Server Error</h1>"),
    "token": Reply(401, b'{"error": "The token is not valid."}'),
    "html": Reply(body=b"<html>Sign in to the network</html>"),
    "elsewhere": Reply(headers={}),
    "list": Reply(body=b"[]"),
    "empty": Reply(body=b""),
    "cut": Reply(cut=10),
}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), body))
        reply = FAULTS.get(self.path.split("/")[1], self.server.reply)
        time.sleep(reply.seconds)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) + reply.cut))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: object) -> None:
        """Tests read what was asked, not a log."""


class Stub(ThreadingHTTPServer):
    """Answers `reply`, and below /<fault>/ that fault. `asked` holds (path, headers, body)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = Reply()
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def handle_error(self, *_: object) -> None:
        """A hook whose time is over hangs up, and needs no trace of it."""

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def payload(self) -> dict:
        return json.loads(self.asked[-1][2])
