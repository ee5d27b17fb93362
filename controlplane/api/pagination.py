"""Keyset pagination: `{"results": […], "next": cursor}`. A cursor stays valid while rows are added."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from controlplane.api.errors import ApiError

PAGE_PARAMETERS = [
    OpenApiParameter("limit", OpenApiTypes.INT, description="Rows a page, 1 to 200."),
    OpenApiParameter("cursor", OpenApiTypes.STR, description="The `next` of the page before."),
]


def paginate(
    rows: QuerySet[Any], request: Request, *, limit_default: int = 50, limit_max: int = 200
) -> dict[str, Any]:
    """Return one page, newest first (by descending primary key). 1 query."""
    limit = read_integer(request, "limit", limit_default, low=1, high=limit_max)
    cursor = request.query_params.get("cursor")
    if cursor:
        rows = rows.filter(pk__lt=_decode(cursor))
    # One row more than the page tells whether there is a next one, without a second query.
    results = list(rows.order_by("-pk")[: limit + 1])
    next_cursor = _encode(results[limit - 1].pk) if len(results) > limit else None
    return {"results": results[:limit], "next": next_cursor}


def read_integer(request: Request, name: str, default: int, *, low: int, high: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
        raise ApiError(400, "INVALID_INPUT", f"{name} must be a whole number from {low} to {high}.")
    return int(text)


def read_boolean(request: Request, name: str) -> bool:
    """Return whether a query parameter is `1` or `true`; absent, empty, `0` and `false` are off."""
    text = request.query_params.get(name, "").lower()
    if text not in {"", "0", "1", "true", "false"}:
        raise ApiError(400, "INVALID_INPUT", f"{name} must be true or false.")
    return text in {"1", "true"}


def _encode(key: int) -> str:
    return base64.urlsafe_b64encode(str(key).encode()).decode().rstrip("=")


def _decode(cursor: str) -> int:
    try:
        key = int(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii"))
    except (ValueError, binascii.Error) as error:
        raise ApiError(400, "INVALID_INPUT", "cursor is not one that this server gave.") from error
    if not 0 <= key < 2**63:
        raise ApiError(400, "INVALID_INPUT", "cursor is not one that this server gave.")
    return key
