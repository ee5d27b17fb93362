"""Fixtures of the ledger's tests; those that commit for real need their tables emptied afterwards."""

from tests.traces import ledger_flush  # the import is what counts
from tests.traces.browser.samples import past

__all__ = ["ledger_flush", "past"]
