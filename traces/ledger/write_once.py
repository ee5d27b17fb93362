"""Write a file that must never change: of two processes one wins, and none reads half of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_once(path: Path, content: bytes) -> None:
    """Write a file for its owner only. Leave one that another process wrote meanwhile. Raise OSError."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
