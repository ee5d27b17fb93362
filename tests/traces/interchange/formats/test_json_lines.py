"""Lines of a stream."""

from __future__ import annotations

import io

import pytest

from traces.interchange.formats import json_lines

pytestmark = pytest.mark.django_db


def test_lines_are_read_the_same_whatever_the_size_of_the_chunks(monkeypatch):
    raw = b'\xef\xbb\xbf{"a":"\xe2\x80\xa8"}\r\n\n  \n{"b":1}\r\n{"c"'
    whole = list(json_lines.read_lines(io.BytesIO(raw).read))
    assert [(line.number, line.raw, line.has_newline) for line in whole if not line.is_blank] == [
        (1, b'{"a":"\xe2\x80\xa8"}', True),
        (4, b'{"b":1}', True),
        (5, b'{"c"', False),
    ]
    for size in range(1, 12):
        monkeypatch.setattr(json_lines, "CHUNK_SIZE", size)
        assert list(json_lines.read_lines(io.BytesIO(raw).read)) == whole
