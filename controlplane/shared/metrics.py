"""Prometheus metrics of this process, in a registry of their own without Python's own metrics."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)  # seconds

disable_created_metrics()  # type: ignore[no-untyped-call]  # a `_created` series beside each counter: nobody reads them
REGISTRY = CollectorRegistry()
GATE_DECISIONS = Counter(
    "icp_gate_decisions", "Gate decisions answered by this process.", ["decision"], registry=REGISTRY
)
GATE_SECONDS = Histogram(
    "icp_gate_seconds", "Time from a parsed request to its answer.", buckets=BUCKETS, registry=REGISTRY
)
ANCHORS = Gauge("icp_ledger_anchors", "Anchors of ledgers by health.", ["health"], registry=REGISTRY)
OUTLETS = Gauge("icp_outlets", "Outlets by health.", ["health"], registry=REGISTRY)
GATE_WAITING = Gauge("icp_gate_waiting", "Gate calls that wait for a lane.", ["lane"], registry=REGISTRY)
VIEWS_WAITING = Gauge("icp_views_waiting", "Requests that wait for a thread.", registry=REGISTRY)
VIEWS_RUNNING = Gauge("icp_views_running", "Threads that answer a request.", registry=REGISTRY)
REFUSED = Counter("icp_gate_refused", "Gate calls denied for lack of time.", registry=REGISTRY)
DATABASE_ERRORS = Counter(
    "icp_database_errors", "Requests that the database could not serve.", registry=REGISTRY
)
DISK_FREE = Gauge("icp_disk_free_bytes", "Room on the disk of the data folder.", registry=REGISTRY)
PENDING_APPROVALS = Gauge("icp_approvals_pending", "Approvals that wait for a person.", registry=REGISTRY)
UNSEALED_AGE = Gauge(
    "icp_ledger_unsealed_seconds", "Age of the oldest entry that no head covers.", registry=REGISTRY
)
LEADER = Gauge("icp_background_leader", "1 in the process that runs the background work.", registry=REGISTRY)
BACKGROUND_FAILURES = Counter(
    "icp_background_failures", "Runs of background work that failed.", ["task"], registry=REGISTRY
)

# Resolved once: a lookup by label takes a lock, and the gate counts every call.
_DECISIONS = {decision: GATE_DECISIONS.labels(decision) for decision in ("allow", "deny", "ask")}


def observe_decision(decision: str, seconds: float) -> None:
    _DECISIONS[decision].inc()
    GATE_SECONDS.observe(seconds)


def set_gauge(gauge: Gauge, values: Mapping[str, int]) -> None:
    """Set a gauge with one label to its value per label."""
    for label, number in values.items():
        gauge.labels(label).set(number)


def render_metrics() -> bytes:
    return generate_latest(REGISTRY)
