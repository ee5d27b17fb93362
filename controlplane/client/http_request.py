"""Any request to the control plane, for commands that people and CI run, with time for http.client."""

from __future__ import annotations

import json
import os

from controlplane.client.call_context import CannotAskError, connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.client import HTTPResponse
    from typing import Any

ANSWER_SECONDS = 120


class RefusedError(CannotAskError):
    """The control plane answered, and not with what was asked for. `status` is its own."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"The control plane answered {status}. {text}".rstrip())
        self.status = status


def reach() -> dict[str, Any]:
    """`url` and `token` of the repository; ICP_TOKEN wins over the one that is kept."""
    told = connection({})
    return {**told, "token": os.environ.get("ICP_TOKEN") or told["token"]}


def request(
    told: dict[str, Any], method: str, path: str, body: bytes = b"", kind: str = "application/json"
) -> HTTPResponse:
    """The open answer of a 2xx; redirects are not followed, so the token goes nowhere else."""
    import http.client
    from urllib.parse import urlsplit

    address = urlsplit(told["url"])
    line = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    headers = {"Authorization": f"Bearer {told['token']}", "Content-Type": kind}
    try:
        opened = line(address.netloc, timeout=ANSWER_SECONDS)
        opened.request(method, f"{address.path}/api/v1/{path}", body or None, headers)
        answer = opened.getresponse()
        if answer.status >= 300:
            raise RefusedError(answer.status, said_in(answer.read()))
    except (OSError, ValueError, http.client.HTTPException) as problem:
        raise CannotAskError(
            f"The control plane at {address.netloc} cannot be reached ({problem})."
        ) from problem
    return answer


def said_in(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def request_json(told: dict[str, Any], method: str, path: str, value: Any = None) -> dict[str, Any]:
    """The object that is answered. Anything else comes from somebody else: `CannotAskError`."""
    body = b"" if value is None else json.dumps(value).encode()
    try:
        answer = json.loads(request(told, method, path, body).read())
    except ValueError as problem:
        raise CannotAskError(f"What answers at {told['url']} is not the control plane.") from problem
    if not isinstance(answer, dict):
        raise CannotAskError(f"What answers at {told['url']} is not the control plane.")
    return answer
