"""Deliver ledger entries to webhooks and OpenTelemetry collectors, after sealing and off the gate's path."""
