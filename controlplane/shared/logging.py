"""One log record is one line, whatever an agent wrote into it (CVE-2025-48432 is the source of the rule)."""

from __future__ import annotations

import logging


class LineFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's own name
        record.message = "".join(
            char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
            for char in record.message
        )
        return super().formatMessage(record)
