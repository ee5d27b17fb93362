"""Errors that the services of traces raise."""

from __future__ import annotations

from controlplane.shared.errors import InvalidInputError


class OutletError(InvalidInputError):
    """The settings of an outlet are not usable."""
