"""Describe who appended an entry, from its sealed envelope."""

from __future__ import annotations

import json

from traces.models import LedgerEntry

WORDS = {
    "person": "{}",
    "user": "{}",
    "token": "token {}",
    "session": "session {}",
    "command": "manage.py {}",
}


def describe_actor(entry: LedgerEntry) -> str:
    """Return the person's, token's or command's name; "" for what the server did by itself. 0 queries."""
    return name_actor(json.loads(bytes(entry.envelope)).get("actor") or "")


def name_actor(actor: str) -> str:
    """Return what people call an actor as entries and revisions keep it."""
    kind, _, name = actor.replace("command ", "command:", 1).partition(":")
    if kind not in WORDS or not name:
        return actor
    if kind == "session":  # its id may hold any character
        return WORDS[kind].format(name)
    number, _, spoken = name.partition(":")
    return WORDS[kind].format(spoken or number)
