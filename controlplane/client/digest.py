"""SHA-256 of small data, without the import of OpenSSL."""

from __future__ import annotations

import sys

MAX_WITHOUT_OPENSSL = 512 * 1024  # bytes


def sha256_hex(data: bytes) -> str:
    """Return hex digits. Small data is hashed without OpenSSL, whose import takes 3 ms."""
    try:
        if len(data) < MAX_WITHOUT_OPENSSL:
            return str(
                __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256(data).hexdigest()
            )
    except ImportError:
        pass  # another implementation of Python
    import hashlib

    return hashlib.sha256(data).hexdigest()
