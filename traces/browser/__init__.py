"""Browsing the ledger: what is wanted, which entries fit, how many, when."""
