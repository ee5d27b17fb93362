"""Requests to the control plane by `http.client`, for commands that may take its import time."""

from __future__ import annotations

import json
import os

from controlplane.client.connection import ControlPlaneError, find_connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.client import HTTPResponse
    from typing import Any

RESPONSE_SECONDS = 120


class ResponseStatusError(ControlPlaneError):
    """The control plane answered with an error; `status` is the HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"The control plane answered {status}. {text}".rstrip())
        self.status = status


def load_connection() -> dict[str, Any]:
    """Return the repository's connection; ICP_TOKEN takes precedence over the saved token."""
    connection = find_connection({})
    return {**connection, "token": os.environ.get("ICP_TOKEN") or connection["token"]}


def request(
    connection: dict[str, Any], method: str, path: str, body: bytes = b"", kind: str = "application/json"
) -> HTTPResponse:
    """Send a request and return the open 2xx response. Raise ControlPlaneError.

    Redirects are not followed, so that the token goes to no other server.
    """
    import http.client
    from urllib.parse import urlsplit

    address = urlsplit(connection["url"])
    connection_class = (
        http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    )
    headers = {"Authorization": f"Bearer {connection['token']}", "Content-Type": kind}
    try:
        http_connection = connection_class(address.netloc, timeout=RESPONSE_SECONDS)
        http_connection.request(method, f"{address.path}/api/v1/{path}", body or None, headers)
        response = http_connection.getresponse()
        if response.status >= 300:
            raise ResponseStatusError(response.status, read_error(response.read()))
    except (OSError, ValueError, http.client.HTTPException) as problem:
        raise ControlPlaneError(
            f"The control plane at {address.netloc} cannot be reached ({problem})."
        ) from problem
    return response


def read_error(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def request_json(connection: dict[str, Any], method: str, path: str, value: Any = None) -> dict[str, Any]:
    """Send a request and return the JSON object of the response. Raise ControlPlaneError."""
    body = b"" if value is None else json.dumps(value).encode()
    try:
        answer = json.loads(request(connection, method, path, body).read())
    except ValueError as problem:
        raise ControlPlaneError(f"What answers at {connection['url']} is not the control plane.") from problem
    if not isinstance(answer, dict):
        raise ControlPlaneError(f"What answers at {connection['url']} is not the control plane.")
    return answer
