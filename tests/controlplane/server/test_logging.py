"""A log record is one line or one JSON object, names its request, and does not repeat itself."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from django.db import OperationalError

from controlplane.server.logging import JsonFormatter, LineFormatter, RepeatFilter
from controlplane.server.request_id import current_request_id

HOSTILE = "one\ntwo\x1b[2J\u2028three"


def record(message: str, error: Exception | None = None) -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("controlplane.test", logging.ERROR, __file__, 1, message, (), exc_info)


@pytest.fixture(autouse=True)
def _no_request():
    """Tests of one process share a context, and others may have left an id in it."""
    token = current_request_id.set("")
    yield
    current_request_id.reset(token)


@pytest.fixture
def request_id():
    token = current_request_id.set("abc-1")
    yield "abc-1"
    current_request_id.reset(token)


@pytest.mark.parametrize("formatter", [LineFormatter(), JsonFormatter()], ids=["line", "json"])
def test_no_text_begins_a_line_of_its_own(formatter):
    text = formatter.format(record(HOSTILE))
    assert len(text.splitlines()) == 1
    assert "\x1b" not in text


@pytest.mark.parametrize("formatter", [LineFormatter(), JsonFormatter()], ids=["line", "json"])
def test_a_record_names_its_request(formatter, request_id):
    assert request_id in formatter.format(record("could not seal"))


def test_a_json_record_has_its_traceback_and_no_empty_field():
    try:
        raise ValueError(HOSTILE)  # noqa: TRY301  the traceback is what is tested
    except ValueError:
        error = sys.exception()
    assert isinstance(error, ValueError)
    fields = json.loads(JsonFormatter().format(record("failed", error)))
    assert fields["level"] == "ERROR"
    assert fields["logger"] == "controlplane.test"
    assert "ValueError" in fields["error"]
    assert fields["time"].endswith("+00:00")
    assert "request_id" not in fields


def test_of_a_failing_database_one_record_a_second_passes_without_a_traceback():
    repeats = RepeatFilter()
    records = [record("could not answer", OperationalError("server closed the connection")) for _ in range(5)]
    passed = [one for one in records if repeats.filter(one)]
    assert len(passed) == 1
    assert passed[0].exc_info is None
    assert "The database does not answer" in passed[0].getMessage()
