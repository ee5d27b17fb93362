"""Agents that ask without a pause, remember what was acknowledged, and send again what was not."""

from __future__ import annotations

import itertools
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.live import LiveServer

AGENTS = 6
ANSWER_SECONDS = 12  # a caller gives up then: more than twice what the server allows itself
PAUSE_SECONDS = 0.05  # after a call that was not served
PROBE_SECONDS = 0.2
ASK_EVERY = 10  # one call of so many needs a person
WORKING, ASKING = "s-1", "s-asks"  # sessions
SERVED = "served"
ALLOWED = {"file_path": "src/auth/login.ts", "content": "export const n = 1;\n" * 20}
ASKED = {"file_path": "docs/design.md", "content": "# new\n"}


@dataclass
class Load:
    """Agents of one workspace. `acknowledged` is what they were told: call id to (decision id, decision)."""

    nodes: list[LiveServer]
    token: str
    acknowledged: dict[str, tuple[str, str]] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    probes: list[float] = field(default_factory=list)  # seconds that /healthz took
    served: Counter[int] = field(default_factory=Counter)  # by agent

    def __post_init__(self) -> None:
        self._done = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(AGENTS)]
        self._threads.append(threading.Thread(target=self._probe))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _work(self, agent: int) -> None:
        for number in itertools.count():
            if self._done.is_set():
                return
            self._call(agent, f"{agent}-{number}", ASKED if number % ASK_EVERY == 0 else ALLOWED)

    def _call(self, agent: int, call_id: str, tool_input: dict[str, Any]) -> None:
        """Send a call until it is answered, each time to the next process, as a proxy would."""
        session = ASKING if tool_input is ASKED else WORKING
        for node in itertools.cycle(self.nodes):
            answer = node.gate(
                self.token, session, "Write", ANSWER_SECONDS, tool_use_id=call_id, **tool_input
            )
            self.answers[describe(answer)] += 1
            if answer[0] == 200:
                self._acknowledge(call_id, answer[1])
                self.served[agent] += 1
                return
            if self._done.wait(PAUSE_SECONDS):
                return

    def _acknowledge(self, call_id: str, answer: dict[str, Any]) -> None:
        told = answer["decision_id"], answer["decision"]
        if self.acknowledged.setdefault(call_id, told) != told:
            self.contradictions.append(call_id)

    def send_again(self, number: int) -> None:
        """Send calls again that were acknowledged: the answer must be the one from before."""
        for call_id in list(self.acknowledged)[-number:]:
            is_asked = int(call_id.partition("-")[2]) % ASK_EVERY == 0
            self._call(0, call_id, ASKED if is_asked else ALLOWED)

    def _probe(self) -> None:
        for node in itertools.cycle(self.nodes):
            if self._done.wait(PROBE_SECONDS):
                return
            began = time.monotonic()
            try:
                with urllib.request.urlopen(f"{node.url}/healthz", timeout=ANSWER_SECONDS):
                    self.probes.append(time.monotonic() - began)
            except (urllib.error.URLError, OSError):
                continue  # a process that was killed or frozen


def describe(answer: tuple[int, Any]) -> str:
    """Name an answer as callers read it."""
    status, body = answer
    if status == 0:
        return "no answer"
    if status == 200:
        return SERVED if body["error_type"] != "internal_error" else "recorded refusal"
    return f"{status} {body.get('decision', '')}".strip() if isinstance(body, dict) else str(status)
