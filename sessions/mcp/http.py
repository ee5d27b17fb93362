"""Serve MCP by Streamable HTTP at /mcp: a bearer token, one request, one answer, no state in between.

An unauthenticated request gets the status that REST would give it. `gate_tool_call` is the exception: clients
let the tool run on an error (Codex always), so the error becomes the hook's own answer, a denial.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError
from django.http.request import split_domain_port, validate_host
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from controlplane.api.authentication import SCHEME
from controlplane.api.errors import ApiError, error_body, get_status_code
from controlplane.api.throttling import TokenThrottle
from controlplane.policy.calls.toolsets.icp import HOOK_TOOL
from controlplane.shared.database.errors import RETRY_SECONDS, describe_database_error
from controlplane.shared.errors import DomainError
from controlplane.shared.tokens import Bearer, find_bearer
from sessions.live.hold_open import MAX_BODY, App, Message, Receive, Scope, Send
from sessions.mcp.server import CALLER, server
from sessions.mcp.session_binding import Caller, read_caller
from sessions.mcp.threads import in_thread

RETRY = ("retry-after", str(RETRY_SECONDS))
PATHS = frozenset({"/mcp", "/mcp/"})
HTTPS = "https"
log = logging.getLogger(__name__)
for talkative in ("mcp.server.streamable_http_manager", "mcp.server.streamable_http"):
    logging.getLogger(talkative).setLevel(logging.WARNING)  # at INFO they tell of every request


class McpMiddleware:
    """Handle requests to /mcp; pass all others to the application."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = handle if scope["path"] in PATHS else self.app
        await app(scope, receive, send)


async def handle(scope: Scope, receive: Receive, send: Send) -> None:
    headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in scope["headers"]}
    try:
        caller: Caller | ApiError = await in_thread(authenticate, scope["method"], headers)
    except ApiError as error:
        body = await _read(receive) if scope["method"] == "POST" else b""
        if not _is_gate_call(body):
            await _send_error(send, error)
            return
        caller, receive = error, _replay(body, receive)
    manager = StreamableHTTPSessionManager(
        server,
        stateless=True,
        json_response="text/event-stream" not in headers.get("accept", ""),
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    )
    async with manager.run():
        await manager.handle_request({**scope, CALLER: caller}, receive, send)


def authenticate(method: str, headers: Mapping[str, str]) -> Caller:
    """Make the checks that a view makes before it runs; raise `ApiError`. 2 queries."""
    _require_address(headers)
    if method != "POST":
        error = "Send POST: there is no stream to listen to, and no session to delete."
        raise ApiError(405, "METHOD_NOT_ALLOWED", error, header=("allow", "POST"))
    try:
        bearer = _bearer(headers.get("authorization", ""))
    except DatabaseError as error:
        text = describe_database_error(error)
        log.error("a token could not be looked up: %s", text)  # noqa: TRY400  no traceback for each request
        raise ApiError(503, "UNAVAILABLE", text, header=RETRY) from error
    throttle = TokenThrottle()
    if not throttle.allow_request(cast("Any", SimpleNamespace(auth=bearer)), cast("Any", None)):
        wait = str(int(throttle.wait() or 0) + 1)
        error_text = f"Too many requests with this token. Wait {wait} seconds."
        raise ApiError(429, "THROTTLED", error_text, header=("retry-after", wait))
    try:
        return read_caller(bearer, headers)
    except DomainError as error:
        raise ApiError(get_status_code(error), error.error_type, error.error, **error.details) from error


def _bearer(header: str) -> Bearer:
    known = header[: len(SCHEME)].lower() == SCHEME
    bearer = find_bearer(header[len(SCHEME) :].strip()) if known else None
    if bearer is not None:
        return bearer
    error = "This token is unknown or was revoked." if known else "Send a token: Authorization: Bearer icp_…"
    raise ApiError(401, "UNAUTHENTICATED", error, header=("www-authenticate", "Bearer"))


def _require_address(headers: Mapping[str, str]) -> None:
    """Check Host as Django does, Origin as sockets do (DNS rebinding), and https where the site uses it."""
    if not _allowed(headers.get("host", "")):
        raise ApiError(400, "INVALID_HOST", "This server does not answer under that name: ICP_ALLOWED_HOSTS.")
    origin = headers.get("origin")
    if origin is not None and not _allowed(urlsplit(origin).netloc):
        raise ApiError(403, "ORIGIN_REFUSED", "Pages of other sites may not call this server.")
    if settings.SECURE_SSL_REDIRECT and headers.get("x-forwarded-proto") != HTTPS:
        raise ApiError(403, "HTTPS_REQUIRED", f"Use {settings.PUBLIC_URL}/mcp.")


def _allowed(netloc: str) -> bool:
    domain, _ = split_domain_port(netloc)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


async def _read(receive: Receive) -> bytes:
    """Return the body; b"" for one that is too long or incomplete."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] == "http.disconnect" or len(body) > MAX_BODY:
            return b""
        if not message.get("more_body"):
            return bytes(body)


def _is_gate_call(body: bytes) -> bool:
    try:
        call = json.loads(body)
        return bool(call["method"] == "tools/call" and call["params"]["name"] == HOOK_TOOL)
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


async def _send_error(send: Send, error: ApiError) -> None:
    name, value = error.extra.get("header", ("cache-control", "no-store"))
    headers = [(b"content-type", b"application/json"), (name.encode(), value.encode())]
    await send({"type": "http.response.start", "status": error.status_code, "headers": headers})
    body = json.dumps(error_body(error.error_type, error.error), ensure_ascii=False).encode()
    await send({"type": "http.response.body", "body": body})
