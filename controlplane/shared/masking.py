"""Mask secrets and cut long texts before anything from an agent is stored.

What is masked is a credential by its form, by its name, or by how a command takes it (`secret_rules`). A
guess about anything else could hide the change that a reviewer must see.
"""

from __future__ import annotations

import json
import math
from typing import Any

from controlplane.shared.secret_rules.find import find_secrets
from controlplane.shared.secret_rules.names import is_harmless, is_header_name, is_secret_name, is_sentence

MASK = "•••masked•••"
_MASK = MASK.encode()
MAX_TEXT_LENGTH = 200_000  # characters of one field
_MAX_NUMBER = 2**53 - 1
CUT_MARK = "… [cut: {left} more characters are not stored]"

MAX_VALUES = 5_000
SECRET_COLLECTIONS = frozenset({"secrets", "passwords"})
TOO_MANY = "too_many_values"  # the name of the one text that stands for more
MIN_TEXT_LENGTH = 8  # of a text that could hold a secret


def mask_text(text: str) -> str:
    """Return `text` with its secrets replaced by MASK, in time linear in its length."""
    spans = find_secrets(text)
    if not spans:
        return text
    encoded = text.encode("utf-8", "surrogatepass")
    parts, position = [], 0
    for start, end in spans:
        parts += [encoded[position:start], _MASK]
        position = end
    return b"".join([*parts, encoded[position:]]).decode("utf-8", "surrogatepass")


def cut_text(text: str, max_length: int = MAX_TEXT_LENGTH) -> str:
    return (
        text if len(text) <= max_length else text[:max_length] + CUT_MARK.format(left=len(text) - max_length)
    )


def is_cut(text: str) -> bool:
    return text.endswith("more characters are not stored]")


def to_storable(value: Any) -> Any:
    """Return a JSON value with every text in it masked and cut.

    What holds more than `MAX_VALUES` becomes one text: a rule for each of its texts would take seconds.
    A number that JSON readers disagree on (RFC 8259, section 6) becomes text: an entry that canonical JSON
    cannot represent would make the gate deny the call.
    """
    if isinstance(value, dict | list) and _count_values(value) > MAX_VALUES:
        return {TOO_MANY: mask_text(cut_text(json.dumps(value, ensure_ascii=False)))}
    return _to_storable(value)


def _count_values(value: Any) -> int:
    """Count the values of a JSON value, up to a little over `MAX_VALUES`."""
    pending, count = [value], 0
    while pending and count + len(pending) <= MAX_VALUES:
        current = pending.pop()
        count += 1
        if isinstance(current, dict):
            pending.extend(current.values())
        elif isinstance(current, list):
            pending.extend(current)
    return count + len(pending)


def _to_storable(value: Any) -> Any:
    if isinstance(value, str):
        return mask_text(cut_text(value)) if len(value) >= MIN_TEXT_LENGTH else value
    if isinstance(value, int | float) and not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        return value if isinstance(value, float) and math.isfinite(value) else str(value)
    if isinstance(value, dict):
        named = mask_named(value)
        return {
            str(key): _mask_all(item) if str(key).lower() in SECRET_COLLECTIONS else _to_storable(item)
            for key, item in named.items()
        }
    if isinstance(value, list):
        return [_to_storable(item) for item in _mask_arguments(value)]
    return value


def _mask_all(value: Any) -> Any:
    """Mask every text of a collection of secrets."""
    if isinstance(value, str):
        return value if is_harmless(value) else MASK
    if isinstance(value, dict):
        return {str(key): _mask_all(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask_all(item) for item in value]
    return _to_storable(value)


def mask_named(value: dict[Any, Any]) -> dict[Any, Any]:
    """Return an object with the texts masked that stand under the name of a secret.

    `{"name": "API_TOKEN", "value": "…"}`, as lists of variables and headers have it, is one, too.
    """
    masked = {
        key: MASK if isinstance(item, str) and _is_secret(str(key), item) else item
        for key, item in value.items()
    }
    name, item = value.get("name") or value.get("key"), value.get("value")
    if isinstance(name, str) and isinstance(item, str) and _is_secret(name, item):
        masked["value"] = MASK
    return masked


def _is_secret(name: str, value: str) -> bool:
    is_named = len(value) > 2 and is_secret_name(name) and not is_harmless(value)
    return is_named and (is_header_name(name) or not is_sentence(value))


def _mask_arguments(values: list[Any]) -> list[Any]:
    """Mask what follows an option of a command that is given as a list: `["--password", "…"]`."""
    if not any(isinstance(value, str) and value.startswith("-") for value in values):
        return values
    masked, previous = [], ""
    for value in values:
        if not isinstance(value, str):
            masked.append(value)
            continue
        option = previous.lstrip("-") if previous.startswith("--") else ""
        is_secret = option and not value.startswith("-") and _is_secret(option, value)
        masked.append(MASK if is_secret else value)
        previous = value
    if all(isinstance(value, str) for value in masked):
        return _mask_words(masked)
    return masked


def _mask_words(words: list[str]) -> list[str]:
    """Mask the words of one command together, since some options mean a secret for some programs only."""
    line = " ".join(words)
    spans = find_secrets(line)
    if not spans:
        return words
    masked, start = [], 0
    for word in words:
        text = word.encode("utf-8", "surrogatepass")
        end = start + len(text)
        for first, last in reversed([span for span in spans if span[0] < end and span[1] > start]):
            text = text[: max(0, first - start)] + _MASK + text[last - start :]
        masked.append(text.decode("utf-8", "surrogatepass"))
        start = end + 1
    return masked
