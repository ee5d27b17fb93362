"""Programs of the system that a test needs, and that pip cannot bring."""

from __future__ import annotations

import os
import warnings

import pytest

NOT_IN_CI = ("go", "pytest")  # a large package for two tests, and a module of the system's own Python


def require(missing: str | None, program: str = "") -> None:
    """Fail in CI, which installs what the tests need, all but NOT_IN_CI; skip, with a warning, elsewhere.

    `missing` says what is not there; None where nothing is.
    """
    if missing is None:
        return
    if os.environ.get("CI") and program not in NOT_IN_CI:
        pytest.fail(missing)
    warnings.warn(f"{missing}; a test is left out", stacklevel=2)  # a skip alone is easily overlooked
    pytest.skip(missing)
