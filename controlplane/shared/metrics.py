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
