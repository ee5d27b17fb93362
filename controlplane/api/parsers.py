"""Strict JSON: reject what two parsers could read differently."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

MAX_DEPTH = 64


class StrictJSONParser(BaseParser):
    """Parse UTF-8 JSON without duplicate keys, NaN, lone surrogates, U+0000 or nesting over 64 levels."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return parse_json(stream.read())


def parse_json(raw: bytes) -> Any:
    """Return the JSON value of `raw`. Raise ParseError."""
    try:
        value = _decoder.decode(raw.decode("utf-8"))
        check_text(value)
    except UnicodeDecodeError as error:
        raise ParseError(f"The body is not UTF-8 (byte {error.start}).") from error
    except RecursionError as error:
        raise ParseError(f"The body nests deeper than {MAX_DEPTH} levels.") from error
    except ValueError as error:
        raise ParseError(f"The body is not valid JSON: {error}.") from error
    return value


def check_text(value: Any, depth: int = 0) -> None:
    """Raise ValueError for text that PostgreSQL or canonical JSON cannot represent, or for deep nesting."""
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        if "\x00" in value:
            raise ValueError("text holds U+0000")
        if not value.isascii():  # ASCII, the common case, needs no copy
            value.encode("utf-8")  # a lone surrogate raises UnicodeEncodeError, a ValueError
    elif isinstance(value, dict):
        for key, item in value.items():
            check_text(key, depth + 1)
            check_text(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            check_text(item, depth + 1)


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {duplicate!r} occurs twice")
    return result


def _parse_finite_float(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"the number {number[:20]} is too large")
    return value


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_decoder = json.JSONDecoder(
    object_pairs_hook=_reject_duplicate_keys, parse_float=_parse_finite_float, parse_constant=_reject_constant
)
