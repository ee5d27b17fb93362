from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from controlplane.server import demo

AGENT_SECONDS = 2  # for the agent to end after the server


class Command(BaseCommand):
    help = "Create the example workspace, serve it, and run a scripted agent in it through the REST API."

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            seeded = demo.seed()
        except demo.DemoConflictError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(demo.describe_demo(seeded))
        connections.close_all()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(
                number, exit_on_signal
            )  # the server puts its own handlers over these and gives them back
        agent = DemoAgentProcess(seeded)
        try:
            call_command("serve")
        finally:
            agent.stop()


class DemoAgentProcess:
    """Start the agent's process once the server answers; stop it with the server."""

    def __init__(self, seeded: demo.SeededDemo) -> None:
        self.url = f"http://127.0.0.1:{settings.ICP_PORT}"
        self.command = [sys.executable, str(demo.EXAMPLE / "agent.py"), str(seeded.repository)]
        self.environment = {
            **os.environ,
            "ICP_URL": self.url,
            "ICP_TOKEN": seeded.credentials.tokens["agent"],
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.stopping = threading.Event()
        threading.Thread(target=self._start, name="demo agent", daemon=True).start()

    def stop(self) -> None:
        self.stopping.set()
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(AGENT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def _start(self) -> None:
        while not self.stopping.is_set() and not self._server_answers():
            time.sleep(0.1)
        if not self.stopping.is_set():
            self.process = subprocess.Popen(self.command, env=self.environment)  # noqa: S603  our own script

    def _server_answers(self) -> bool:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.url}/healthz", timeout=1):
                return True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False


def exit_on_signal(*_: object) -> NoReturn:
    sys.exit(0)
