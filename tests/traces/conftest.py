"""Ledger tests that commit for real need their tables emptied afterwards."""

from tests.traces import ledger_flush  # the import is what counts

__all__ = ["ledger_flush"]
