"""Counters for Prometheus, kept in the process; the exposition format needs no library."""

from __future__ import annotations

import threading
from collections import defaultdict

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)  # seconds


class Decisions:
    """Gate decisions by outcome, and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: defaultdict[str, int] = defaultdict(int)
        self._buckets = [0] * len(BUCKETS)
        self._total_seconds = 0.0

    def observe(self, decision: str, seconds: float) -> None:
        with self._lock:
            self._counts[decision] += 1
            self._total_seconds += seconds
            for index, bound in enumerate(BUCKETS):
                self._buckets[index] += seconds <= bound

    def lines(self) -> list[str]:
        with self._lock:
            counts, buckets, total = dict(self._counts), list(self._buckets), self._total_seconds
        number = sum(counts.values())
        return [
            "# HELP icp_gate_decisions_total Gate decisions answered by this process.",
            "# TYPE icp_gate_decisions_total counter",
            *(
                f'icp_gate_decisions_total{{decision="{word}"}} {counts.get(word, 0)}'
                for word in ("allow", "deny", "ask")
            ),
            "# HELP icp_gate_seconds Time from a parsed request to its answer.",
            "# TYPE icp_gate_seconds histogram",
            *(
                f'icp_gate_seconds_bucket{{le="{bound}"}} {count}'
                for bound, count in zip(BUCKETS, buckets, strict=True)
            ),
            f'icp_gate_seconds_bucket{{le="+Inf"}} {number}',
            f"icp_gate_seconds_sum {total:.6f}",
            f"icp_gate_seconds_count {number}",
        ]


class Gauge:
    """One number for each word of a label, as set last; nothing is told before that."""

    def __init__(self, name: str, says: str, label: str) -> None:
        self.name, self.says, self.label = name, says, label
        self._values: dict[str, int] = {}

    def set(self, values: dict[str, int]) -> None:
        self._values = dict(values)

    def lines(self) -> list[str]:
        values = self._values
        if not values:
            return []
        head = [f"# HELP {self.name} {self.says}", f"# TYPE {self.name} gauge"]
        return head + [f'{self.name}{{{self.label}="{word}"}} {number}' for word, number in values.items()]


GATE = Decisions()
ANCHORS = Gauge("icp_ledger_anchors", "Places that keep signed heads of ledgers, by health.", "health")
OUTLETS = Gauge("icp_outlets", "Webhooks and collectors that are told what is recorded, by health.", "health")
