"""Strict in, canonical out."""

from __future__ import annotations

import json

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from traces.ledger import canonical_json
from traces.ledger.canonical_json import CanonicalError

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-canonical_json.MAX_INTEGER, canonical_json.MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not 2**53 <= abs(number) < 1e21)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_the_bytes_are_those_of_rfc_8785(value):
    assert canonical_json.encode(value) == rfc8785.dumps(value)


@given(VALUES)
def test_reading_the_bytes_gives_the_same_bytes_again(value):
    encoded = canonical_json.encode(value)
    assert canonical_json.encode(canonical_json.parse(encoded)) == encoded


def test_keys_sort_by_utf_16_as_the_standard_says():
    assert canonical_json.encode({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()


@pytest.mark.parametrize(
    ("text", "path", "problem"),
    [
        ('{"a":{"b":1,"b":2}}', "$.a.b", "occurs twice"),
        ('{"a":[1,NaN]}', "$.a[1]", "NaN is not JSON"),
        ('{"a":-Infinity}', "$.a", "-Infinity is not JSON"),
        ('{"a":1e400}', "$.a", "inf is not JSON"),
        ('{"a":9007199254740992}', "$.a", "beyond 2^53"),
        ('{"a":1e20}', "$.a", "beyond 2^53"),
        ('{"a":"x\\u0000"}', "$.a", "U+0000"),
        ('{"a":"\\ud800"}', "$.a", "surrogate"),
        ('{"\\udfff":1}', "$.\udfff", "surrogate"),
        ("[" * 65 + "]" * 65, "$" + "[0]" * 64, "deeper than 64"),
        ('{"a":' * 65 + "1" + "}" * 65, "$" + ".a" * 64, "deeper than 64"),
        ("[" * 100_000, "$", "deeper than 64"),
    ],
)
def test_what_readers_could_understand_differently_is_refused(text, path, problem):
    with pytest.raises(CanonicalError) as refused:
        canonical_json.parse(text)
    assert refused.value.path == path
    assert problem in refused.value.problem


def test_64_levels_are_fine():
    assert canonical_json.parse("[" * 64 + "]" * 64)


def test_what_is_no_json_is_another_error():
    for raw in (b"{", b"\xff", b"", b"{'a': 1}"):
        with pytest.raises(ValueError) as refused:
            canonical_json.parse(raw)
        assert not isinstance(refused.value, CanonicalError)


@pytest.mark.parametrize("value", [{1: 2}, object(), {"a": {1, 2}}, b"bytes"])
def test_python_values_without_a_json_form_are_refused(value):
    with pytest.raises(CanonicalError):
        canonical_json.encode(value)


def test_the_plain_encoder_is_used_where_it_is_enough():
    value = {"b": ["é", 1, None, True, "\n\u2028\x7f\x1f"], "a": {}}
    assert canonical_json.check(value)
    assert json.loads(canonical_json.encode(value)) == value
    assert not canonical_json.check({"a": 1.5})


LINES = st.one_of(
    VALUES.map(lambda value: json.dumps({"a": value}).encode()),
    st.builds(
        lambda value, spaces: json.dumps({"a": value}, separators=(f"{spaces},", f"{spaces}:")).encode(),
        VALUES,
        st.sampled_from(["", " ", "\t "]),
    ),
    st.text('{}[]":,0123456789eE.-\\\\ \ttrufalsn\x7f', max_size=40).map(
        lambda text: f'{{"a":{text}}}'.encode()
    ),
)


@given(LINES)
def test_the_short_way_reads_and_writes_what_the_long_one_does(raw):
    short = canonical_json.read_plain(raw)
    if short is not None:
        value = canonical_json.parse(raw)
        assert short == (value, rfc8785.dumps(value))
        assert str(short[0]) == str(value)  # 1 and 1.0 are equal, and not the same


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1,"a":1}', b'{"a" :1,"a":":"}', b'{"a":{"b":1,"b":2},"c":":"}', b'{"a":1.0}', b'{"a":[1,2.5]}',
        b'{"a":1e2}', b'{"a":-1}', b'{"a":-0}', b'{"a":9007199254740992}', b'{"a":18446744073709551616}',
        b'{"a":NaN}', b'{"a":1e400}', b'{"a":"\\u0000"}', b'{"a":"\xc3\xa9"}', b"[1]", b"7", b'{"a":1} x', b"",
        b'{"a":' * 65 + b"1" + b"}" * 65,
    ],
)  # fmt: skip
def test_the_short_way_leaves_alone_what_is_not_plain(raw):
    assert canonical_json.read_plain(raw) is None


def test_an_ordinary_line_takes_the_short_way():
    raw = b'{"b": [true, null, {"x": 12}], "a": "12:00:00.120Z, -1.5 e7"}'
    assert canonical_json.read_plain(raw) == (json.loads(raw), rfc8785.dumps(json.loads(raw)))


@settings(suppress_health_check=[HealthCheck.too_slow])  # the machine's load, not the data
@given(st.dictionaries(st.text("abc", min_size=1), st.text() | st.integers(0, canonical_json.MAX_INTEGER)))
def test_flat_objects_are_encoded_or_refused_as_all_others(value):
    try:
        wanted = canonical_json.encode(value)
    except CanonicalError:
        with pytest.raises(CanonicalError):
            canonical_json.encode_flat(value)
    else:
        assert canonical_json.encode_flat(value) == wanted
