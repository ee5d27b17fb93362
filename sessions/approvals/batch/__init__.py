"""Decide several approvals with one answer, each with a result of its own."""
