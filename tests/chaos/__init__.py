"""Break a served product under load, and hold its ledger against what it acknowledged: `make chaos`."""
