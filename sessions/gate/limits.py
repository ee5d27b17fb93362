"""Sizes that the gate accepts in a request."""

from __future__ import annotations

MAX_INPUT_BYTES = 1024 * 1024
MAX_BODY_BYTES = MAX_INPUT_BYTES + 256 * 1024  # room for the fields next to the input
MAX_ID_LENGTH = 200
MAX_PATH_LENGTH = 4096
MAX_HASHES = 10_000
MAX_LINKS = 1_000
TOO_LONG = f"The input is over {MAX_INPUT_BYTES} bytes. Split the change into smaller ones."
