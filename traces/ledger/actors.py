"""Who made an entry, from the envelope that is sealed: people by name, tokens and commands by theirs."""

from __future__ import annotations

import json

from traces.models import LedgerEntry

WORDS = {"person": "{}", "token": "token {}", "command": "manage.py {}"}


def describe_actor(entry: LedgerEntry) -> str:
    """In words; "" where the ledger names nobody, as for what the server does by itself. 0 queries."""
    actor = json.loads(bytes(entry.envelope)).get("actor") or ""
    kind, _, name = actor.replace("command ", "command:", 1).partition(":")
    if kind not in WORDS or not name:
        return actor
    number, _, spoken = name.partition(":")
    return WORDS[kind].format(spoken or number)
