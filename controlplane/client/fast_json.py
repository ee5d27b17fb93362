"""JSON by the interpreter's own scanner and encoder, without importing `json`.

That import takes half as long as the interpreter's start, for regular expressions that a hook does not need.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WHITESPACE = " \t\n\r"


class ScannerRules:
    """What `json.JSONDecoder` hands to the same scanner."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def parse_json(data: bytes) -> Any:
    """Parse a document in UTF-8. Raise ValueError."""
    text = data.decode("utf-8", "surrogatepass").strip(WHITESPACE)
    try:
        scan = __import__("_json").make_scanner(ScannerRules)
    except (ImportError, AttributeError):  # another implementation of Python
        import json

        return json.loads(text)
    try:
        value, end = scan(text, 0)
    except StopIteration as error:
        raise ValueError(f"Expecting value: char {error.value}") from None
    if end != len(text):
        raise ValueError(f"Extra data: char {end}")
    return value


def render_json(value: Any) -> str:
    """Return the text of dictionaries, lists and scalars, in ASCII."""
    try:
        module = __import__("_json")
        encode = module.make_encoder(
            None, None, module.encode_basestring_ascii, None, ": ", ", ", False, False, True
        )
        return "".join(encode(value, 0))
    except (ImportError, AttributeError, TypeError):  # another implementation, or another signature
        import json

        return json.dumps(value)
