"""Answers that prove themselves: entries with their proofs, for whoever does not trust this server."""
