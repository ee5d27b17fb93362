"""Parse JSON strictly, and encode it canonically as RFC 8785 describes.

Python's parser keeps the last of two equal keys, accepts NaN and turns 1e400 into infinity. What two readers
could understand differently must not be signed. Every error names a JSON path.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson
import rfc8785

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1  # beyond it, readers that use doubles get another number (RFC 8785, 3.2.2.3)


class CanonicalError(ValueError):
    """JSON without a canonical form. `path` is like `$.files[0].name`, `problem` like "occurs twice"."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class _DuplicateKey(dict[str, Any]):
    """An object in which the key `name` occurs more than once."""

    name = ""


class _NonFinite:
    """NaN, Infinity or -Infinity, which are not JSON."""

    def __init__(self, text: str) -> None:
        self.text = text


def parse(raw: bytes | str) -> Any:
    """Parse and check one JSON value. Raise CanonicalError, or ValueError for invalid JSON or UTF-8."""
    value = read(raw)
    check(value)
    return value


def read(raw: bytes | str) -> Any:
    """Parse one JSON value without checking it: the first half of `parse`."""
    text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise CanonicalError("$", f"nests deeper than {MAX_DEPTH} levels") from None


def encode(value: Any) -> bytes:
    """Encode as RFC 8785. Raise CanonicalError for what has no canonical form or cannot be stored.

    Without floats, and with keys that sort alike as UTF-16 and as code points, orjson writes the same bytes
    many times faster (a test compares them).
    """
    if check(value):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return rfc8785.dumps(value)


def encode_flat(value: dict[str, str | int]) -> bytes:
    """Encode an object of ASCII names with strings and small integers."""
    try:
        encoded = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half of a surrogate pair
        return encode(value)
    return encode(value) if b"\\u0000" in encoded else encoded


def read_plain(raw: bytes) -> tuple[dict[str, Any], bytes] | None:
    """Fast path: parse an object of plain JSON; return it with its canonical bytes, or None: use `parse`.

    Plain is ASCII without escapes, without negative, long or fractional numbers, and without duplicate keys.
    A parser drops duplicate keys; without escapes, a lost key shows in the number of colons of both forms.
    """
    if not raw.startswith(b"{") or b"\\" in raw or not raw.isascii():
        return None
    outside_of_texts = b'"'.join(raw.split(b'"')[::2])
    if _ODD_NUMBER.search(outside_of_texts) or raw.count(b"{") + raw.count(b"[") > MAX_DEPTH:
        return None
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    encoded = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return (value, encoded) if raw.count(b":") == encoded.count(b":") else None


def check(value: Any) -> bool:
    """Raise CanonicalError for what has no canonical form. Return whether orjson encodes it canonically.

    Nearly every value is plain, which is checked level by level without building paths.
    """
    return _is_plain(value) or _check_value(value, "$", 0)


def _is_plain(value: Any) -> bool:
    """Return whether the value is valid and all keys are ASCII. False means: use `_check_value`."""
    keys: list[str] = []
    texts: list[str] = []
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return _are_plain(keys, texts)
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                texts.append(item)
            elif kind is dict:
                keys.extend(item)
                below.extend(item.values())
            elif kind is list:
                below.extend(item)
            elif kind is int:
                if not -MAX_INTEGER <= item <= MAX_INTEGER:
                    return False
            elif item is not None and kind is not bool:
                return False
        level = below
    return False


def _are_plain(keys: list[str], texts: list[str]) -> bool:
    try:
        joined_keys, joined_texts = "".join(keys), "".join(texts)
        joined_texts.encode()
    except (TypeError, UnicodeEncodeError):  # a key that is no text; half of a surrogate pair
        return False
    return joined_keys.isascii() and "\x00" not in joined_keys and "\x00" not in joined_texts


def _check_value(value: Any, path: str, depth: int) -> bool:
    if isinstance(value, str):
        _check_text(value, path)
        return True
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise CanonicalError(path, "is an integer beyond 2^53 - 1")
        return True
    if isinstance(value, dict):
        return _check_object(value, path, depth)
    if isinstance(value, (list, tuple)):
        return _check_array(value, path, depth)
    if isinstance(value, float) and math.isfinite(value):
        _check_float(value, path)
        return False
    literal = value.text if isinstance(value, _NonFinite) else repr(value)
    raise CanonicalError(path, f"{literal} is not JSON")


def _check_object(value: dict[Any, Any], path: str, depth: int) -> bool:
    if depth >= MAX_DEPTH:
        raise CanonicalError(path, f"nests deeper than {MAX_DEPTH} levels")
    if isinstance(value, _DuplicateKey):
        raise CanonicalError(f"{path}.{value.name}", "the key occurs twice")
    plain = True
    for key, item in value.items():
        if not isinstance(key, str):
            raise CanonicalError(path, f"the key {key!r} is not text")
        inner = f"{path}.{key}"
        _check_text(key, inner)
        plain = _check_value(item, inner, depth + 1) and key.isascii() and plain
    return plain


def _check_array(value: list[Any] | tuple[Any, ...], path: str, depth: int) -> bool:
    if depth >= MAX_DEPTH:
        raise CanonicalError(path, f"nests deeper than {MAX_DEPTH} levels")
    plain = True
    for index, item in enumerate(value):
        plain = _check_value(item, f"{path}[{index}]", depth + 1) and plain
    return plain


def _check_float(value: float, path: str) -> None:
    """Reject integral floats below 10^21: RFC 8785 writes them as integers, which would not parse again."""
    if value.is_integer() and MAX_INTEGER < abs(value) < 1e21:
        raise CanonicalError(path, "is an integer beyond 2^53 - 1")


def _check_text(text: str, path: str) -> None:
    if "\x00" in text:
        raise CanonicalError(path, "holds U+0000, which databases cannot store")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise CanonicalError(path, "holds half of a surrogate pair")


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    duplicate = _DuplicateKey(value)
    names = [name for name, _ in pairs]
    duplicate.name = next(name for name in names if names.count(name) > 1)
    return duplicate


_DECODER = json.JSONDecoder(object_pairs_hook=_build_object, parse_constant=_NonFinite)
_ODD_NUMBER = re.compile(rb"-|\d[.eE]|\d{16}")
