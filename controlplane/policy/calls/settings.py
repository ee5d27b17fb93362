"""Settings of a call that take it out of its client's own bounds, and statements that write files.

They are no targets, so they have an effect of their own: a person sees them on the card, and may grant their
kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from controlplane.policy.effects import Effect, PartEffect
from controlplane.policy.paths.canonical import to_printable

# (key, values as text without case, kind, effect, why)
_SETTINGS = (
    ("dangerouslydisablesandbox", {"true", "1", "yes"}, "leave sandbox", Effect.MACHINE,
     "the client's sandbox would be off"),
    ("sandbox_permissions", {"require_escalated", "with_additional_permissions"}, "leave sandbox",
     Effect.MACHINE, "the client's sandbox would be off"),
    ("with_escalated_permissions", {"true", "1", "yes"}, "leave sandbox", Effect.MACHINE,
     "the client's sandbox would be off"),
    ("isolation", {"remote", "cloud"}, "remote agent", Effect.SENDS,
     "it would work on another machine, where no hook asks"),
    ("environment", {"remote", "cloud"}, "remote agent", Effect.SENDS,
     "it would work on another machine, where no hook asks"),
    ("mode", {"bypasspermissions"}, "unasked agent", Effect.MACHINE,
     "its client would ask nobody, whatever it does"),
    ("permission_mode", {"bypasspermissions"}, "unasked agent", Effect.MACHINE,
     "its client would ask nobody, whatever it does"),
)  # fmt: skip
_SQL_TOOLS = frozenset({"sql", "session_store_sql"})
# SQLite writes and loads files by these; the rest stays in the client's own database.
_SQL_FILES = re.compile(
    r"\b(?:attach|vacuum\b[^;]*\binto|load_extension|writefile|readfile|edit\s*\(|copy\b[^;]*\bto)\b"
    r"|(?:^|;)\s*\.\w",
    re.IGNORECASE,
)
MAX_TEXT = 64  # characters of a value that are looked at


def list_effects(name: Any, data: Any) -> Iterator[PartEffect]:
    """Yield the effects of a call's settings, whatever else it does."""
    if not isinstance(data, Mapping) or not isinstance(name, str):
        return
    values = {str(key).lower(): str(value)[:MAX_TEXT].lower() for key, value in data.items()}
    for key, words, kind, effect, reason in _SETTINGS:
        if values.get(key) in words:
            yield PartEffect(to_printable(f"{name} {key}"), kind, effect, reason)
    statement = data.get("query")
    if name in _SQL_TOOLS and (not isinstance(statement, str) or _SQL_FILES.search(statement)):
        yield PartEffect(to_printable(name), "", Effect.UNKNOWN, "the statement may read or write files")
