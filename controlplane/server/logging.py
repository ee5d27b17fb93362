"""Log one line per record, whatever an agent wrote into it (log injection, as in CVE-2025-48432)."""

from __future__ import annotations

import logging


class LineFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging calls it so
        record.message = "".join(
            char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
            for char in record.message
        )
        return super().formatMessage(record)
