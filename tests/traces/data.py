"""Where the stored traces of the tests are."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent.parent / "data" / "traces"
