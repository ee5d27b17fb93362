"""What monitoring asks: liveness, readiness, metrics."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from controlplane.server.gauges import measure
from controlplane.shared import metrics
from tests import builders


def read_metrics(client):
    """Every sample of `/metrics` by name and labels."""
    answer = client.get("/metrics")
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = text_string_to_metric_families(answer.content.decode())
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_the_metrics_are_those_that_operators_know(client, settings):
    settings.SECURE_SSL_REDIRECT = False
    metrics.set_gauge(metrics.OUTLETS, {"ok": 1, "failing": 2})
    try:
        names = {name for name, *_ in read_metrics(client)}
    finally:
        metrics.OUTLETS.clear()
    assert names - {"icp_ledger_anchors", "icp_gate_waiting", "icp_background_failures_total"} == {
        "icp_views_waiting",
        "icp_views_running",
        "icp_gate_refused_total",
        "icp_database_errors_total",
        "icp_disk_free_bytes",
        "icp_approvals_pending",
        "icp_ledger_unsealed_seconds",
        "icp_gate_decisions_total",
        "icp_gate_seconds_bucket",
        "icp_gate_seconds_sum",
        "icp_gate_seconds_count",
        "icp_outlets",
        "icp_background_leader",
    }


def test_a_decision_is_counted_by_its_outcome_and_its_time(client):
    before = read_metrics(client)
    metrics.observe_decision("deny", 0.004)
    after = read_metrics(client)
    for key, change in {
        ("icp_gate_decisions_total", "deny"): 1,
        ("icp_gate_decisions_total", "allow"): 0,
        ("icp_gate_seconds_bucket", "0.0025"): 0,
        ("icp_gate_seconds_bucket", "0.005"): 1,
        ("icp_gate_seconds_bucket", "+Inf"): 1,
        ("icp_gate_seconds_count",): 1,
    }.items():
        assert after[key] - before[key] == change, key


def test_what_waits_is_measured(client, acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    agent.gate("Write", file_path="docs/a.md", content="x")
    measure()
    values = read_metrics(client)
    assert values["icp_approvals_pending",] == 1
    assert values["icp_ledger_unsealed_seconds",] > 0
    assert values["icp_disk_free_bytes",] > 0
