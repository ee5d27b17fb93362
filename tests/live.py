"""A real server in a process of its own, on a scratch database: for tests that kill it, and for browsers."""

from __future__ import annotations

import copy
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60
STOP_SECONDS = 30  # less than any call is held, so a stop that waited for one fails


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LiveServer:
    """`start`, `stop` (SIGTERM), `kill` (SIGKILL); `api` and `manage` speak to it."""

    def __init__(self, data_dir: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self._slugs: Counter[str] = Counter()
        self._commands: subprocess.Popen[str] | None = None
        self.log = data_dir / "server.log"
        self.env = {
            name: value for name, value in os.environ.items() if not name.startswith("ICP_PUBLIC")
        } | {
            "ICP_DATA_DIR": str(data_dir),
            "ICP_PORT": str(self.port),
            "ICP_RATE_PER_MINUTE": "0",
            "DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", "controlplane.settings"),
        }
        self._scratch_database()
        self.manage("migrate", "-v0")

    def twin(self) -> LiveServer:
        """Return another process of this installation, not started: the same database and data folder, its own port."""
        twin = copy.copy(self)
        twin.port = free_port()
        twin.url = f"http://127.0.0.1:{twin.port}"
        twin.process = twin._commands = None
        twin._admin_url = ""  # the database is dropped with the first one
        twin.log = self.log.with_name(f"server-{twin.port}.log")
        twin.env = self.env | {"ICP_PORT": str(twin.port)}
        return twin

    def _scratch_database(self) -> None:
        """On PostgreSQL a database of its own, beside the one that the variable names."""
        url = os.environ.get("ICP_DATABASE_URL", "")
        self._admin_url = url if url.startswith("postgres") else ""
        if self._admin_url:
            self.database = f"icp_live_{secrets.token_hex(6)}"
            self._on_postgresql(f"CREATE DATABASE {self.database}")
            self.env["ICP_DATABASE_URL"] = urlunsplit(urlsplit(url)._replace(path=f"/{self.database}"))

    def _on_postgresql(self, statement: str) -> None:
        with psycopg.connect(self._admin_url, autocommit=True) as connection:
            connection.execute(statement)

    def manage(self, *arguments: str) -> str:
        """Run a management command and return its output."""
        status, output = self.command(*arguments)
        assert status == 0, f"{arguments}: {output}"
        return output

    def command(self, *arguments: str) -> tuple[int, str]:
        """Run a management command, whatever its exit status. All share one process (`tests.live_commands`)."""
        if self._commands is None:
            self._commands = subprocess.Popen(
                [sys.executable, "-m", "tests.live_commands"],
                cwd=ROOT, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        assert self._commands.stdin is not None
        assert self._commands.stdout is not None
        self._commands.stdin.write(json.dumps(arguments) + "\n")
        self._commands.stdin.flush()
        answer = json.loads(self._commands.stdout.readline())
        return answer["status"], answer["output"]

    def manage_with_input(self, text: str, *arguments: str) -> str:
        """The same in a process of its own, for a command that reads from its standard input."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.env, capture_output=True, text=True, input=text, check=False
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve"], cwd=ROOT, env=self.env, stdout=log, stderr=log
            )
        ends = time.monotonic() + START_SECONDS
        while time.monotonic() < ends:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=1):
                    return
            except OSError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.05)
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    def stop(self) -> None:
        """Send SIGTERM and wait until the server has ended."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(STOP_SECONDS)
        self.process = None

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(15)
        self.process = None

    def close(self) -> None:
        if self.process is not None:
            self.kill()
        self.end_commands()
        if self._admin_url:
            self._drop_database()

    def end_commands(self) -> None:
        """End the process that runs commands, and with it its connection and what it knows of files."""
        if self._commands is not None:
            self._commands.communicate()
            self._commands = None

    def _drop_database(self) -> None:
        """Drop the scratch database, whoever is still connected.

        Not `WITH (FORCE)`: an ordinary role may not end a worker of autovacuum, and is refused when one happens to be
        there. A plain DROP sends such a worker away by itself and waits for it, up to five seconds.
        """
        with psycopg.connect(self._admin_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND usename = current_user",
                [self.database],
            )
            connection.execute(f"DROP DATABASE {self.database}")

    def read_metric(self, name: str) -> float:
        """Return the value of a metric without labels."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=START_SECONDS) as answer:
            lines = answer.read().decode().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith(f"{name} ")))

    def count_processor_seconds(self) -> float:
        """Return what the server has used so far, in user and system mode (proc(5), `stat`, fields 14 and 15)."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def api(
        self, token: str, method: str, path: str, body: Any = None, timeout: float = 70
    ) -> tuple[int, Any]:
        """(status, parsed body); status 0 when there was no answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", data, method=method)
        request.add_header("Authorization", f"Bearer {token}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text.startswith(b"{") else text
        except (OSError, http.client.HTTPException):  # also an answer that was cut off
            return 0, None

    def workspace(self, slug: str, *options: str) -> dict[str, str]:
        """Create a workspace with INT-001 (src/auth/**); role to token. A slug in use gets a number behind it."""
        self._slugs[slug] += 1
        if self._slugs[slug] > 1:
            slug = f"{slug}-{self._slugs[slug]}"
        tokens = json.loads(self.manage("create_workspace", slug, "--json", *options))["tokens"]
        intent = {
            "id": "INT-001", "name": "Sign in with tokens", "description": "Replace cookies by tokens",
            "status": "PENDING", "owned_scope": ["src/auth/**"], "constraints": ["No new dependency"],
            "acceptance_criteria": ["All tests pass"],
        }  # fmt: skip
        status, answer = self.api(tokens["admin"], "POST", "intents", intent)
        assert status == 201, answer
        return tokens

    def select(self, token: str, session: str, intent_id: str = "INT-001") -> None:
        agent = {"name": "claude-code", "version": "2.1"}
        self.api(token, "POST", "sessions", {"session_id": session, "agent": agent})
        status, answer = self.api(
            token, "POST", f"sessions/{session}/select-intent", {"intent_id": intent_id}
        )
        assert status == 200, answer
        assert answer["success"], answer

    def gate(self, token: str, session: str, tool: str, timeout: float = 70, **call: Any) -> tuple[int, Any]:
        wait, call_id = call.pop("wait_seconds", 0), call.pop("tool_use_id", None)
        body = {
            "session_id": session,
            "tool": tool,
            "input": call,
            "wait_seconds": wait,
            "tool_use_id": call_id,
        }
        return self.api(token, "POST", "gate", body, timeout)
