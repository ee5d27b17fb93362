"""Browse the ledger: filters, search, counts, facets, one entry in detail, exports."""
