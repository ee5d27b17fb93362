"""Protocol buffers without a schema: messages as field numbers, enough to stand in for a server that speaks them."""

from __future__ import annotations

from typing import Any

Fields = dict[int, list[Any]]  # number → its values: whole numbers, or bytes (texts, messages)
VARINT, EIGHT, LENGTH, FOUR = 0, 1, 2, 5
FIXED = {EIGHT: 8, FOUR: 4}


def encode(message: dict[int, Any]) -> bytes:
    """Texts, bytes, whole numbers, truth, messages as dicts; a list is a repeated field."""
    made = b""
    for number, value in message.items():
        for one in value if isinstance(value, list) else [value]:
            made += _field(number, one)
    return made


def _field(number: int, value: Any) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | VARINT) + _varint(int(value))
    data = encode(value) if isinstance(value, dict) else value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | LENGTH) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def decode(data: bytes) -> Fields:
    found: Fields = {}
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        if key & 7 == VARINT:
            value, at = _read_varint(data, at)
        else:
            length, at = (FIXED[key & 7], at) if key & 7 in FIXED else _read_varint(data, at)
            value, at = data[at : at + length], at + length
        found.setdefault(key >> 3, []).append(value)
    return found


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def inside(data: bytes, *path: int) -> bytes:
    """What stands first at the end of this path of field numbers; empty where nothing does."""
    for number in path:
        data = decode(data).get(number, [b""])[0]
    return data


def texts(data: bytes, depth: int) -> list[str]:
    """The texts of a message whose own fields lie `depth` messages deep."""
    values = [value for listed in decode(data).values() for value in listed if isinstance(value, bytes)]
    if depth == 0:
        return [value.decode(errors="replace") for value in values]
    return [text for value in values for text in texts(value, depth - 1)]
