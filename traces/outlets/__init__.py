"""Telling others what the ledger records, after it is sealed and never on the gate's path."""
