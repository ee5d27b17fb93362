"""The application in front of all others: probes, limits of bodies, and the gate's own way to its threads."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from controlplane.api.errors import ApiError, describe_error, error_body
from controlplane.server.front.bodies import (
    Body,
    BodyTimeoutError,
    BodyTooLongError,
    ClientGoneError,
    read_body,
)
from controlplane.server.front.callers import Lookups, is_addressed_well, read_headers, read_secret
from controlplane.server.front.gate import BEARER, GateApp, GateCall, admit, find_gate_call, late_body
from controlplane.server.front.replies import CLOSE, JSON, RawReply, to_json
from controlplane.server.health import PROBES, render_probe
from controlplane.server.request_id import begin_request
from controlplane.shared.errors import DomainError, UnavailableError
from sessions.live.hold_open import MAX_BODY, App, Message, Receive, Scope, Send

MAX_ANONYMOUS = 64 * 1024  # bytes of a body whose sender is not known
SEND_SECONDS = 20  # for a client to take one piece of an answer
TOKEN_PATHS = ("/api/", "/hooks/", "/mcp")
REFUSABLE = (DatabaseError, InterfaceError, DomainError, ApiError)


class Front:
    """`app` answers what is not the gate's; `gate` is reached through it, so that calls can be held open."""

    def __init__(self, app: App, lookups: Lookups) -> None:
        self.app, self.lookups = app, lookups

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = begin_request(scope, send)
        if scope["path"] in PROBES and scope["method"] in {"GET", "HEAD"}:
            await render_probe(scope["path"], send, with_body=scope["method"] == "GET")
            return
        headers = read_headers(scope)
        gate_call = find_gate_call(scope)
        if gate_call is not None and is_addressed_well(headers) and _is_json(headers):
            await self._ask_gate(gate_call, headers, scope, receive, send)
        else:
            await self._pass_on(headers, scope, receive, send)

    async def _ask_gate(
        self, gate_call: GateCall, headers: Mapping[str, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Find the token, then read the body, then let the gate judge."""
        try:
            secret = read_secret(headers)
            bearer = await self.lookups.find_bearer(secret) if secret else None
            admit(bearer, headers)
        except Exception as error:  # noqa: BLE001  what fails before the gate is a denial, too
            await gate_call.refuse(error).send_to(send)
            return
        try:
            body = await read_body(receive, MAX_BODY)
        except ClientGoneError:
            return
        except (BodyTimeoutError, BodyTooLongError) as error:
            await late_body(gate_call, is_late=isinstance(error, BodyTimeoutError)).send_to(send)
            return
        with body:
            await self.app({**scope, BEARER: bearer}, body.replay(receive), send)

    async def _pass_on(self, headers: Mapping[str, str], scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_in_time(message: Message) -> None:
            nonlocal started
            started = True
            await bounded(message)

        bounded = bound_sending(send)
        try:
            if _has_body(headers):
                with await self._read(headers, scope, receive) as body:
                    await self.app(scope, body.replay(receive), send_in_time)
            else:
                await self.app(scope, receive, send_in_time)
        except ClientGoneError:
            return
        except (BodyTimeoutError, BodyTooLongError, *REFUSABLE) as error:
            if started:
                raise
            await refuse(scope, error).send_to(send)

    async def _read(self, headers: Mapping[str, str], scope: Scope, receive: Receive) -> Body:
        """Return the body, empty where the sender of a long one is unknown: the view refuses it then."""
        declared = headers.get("content-length", "")
        is_short = declared.isdigit() and int(declared) <= MAX_ANONYMOUS
        if is_short or await self._is_known(headers, scope):
            return await read_body(
                receive, MAX_ANONYMOUS if is_short else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            )
        if scope["path"].startswith(TOKEN_PATHS):
            return Body()
        raise BodyTooLongError

    async def _is_known(self, headers: Mapping[str, str], scope: Scope) -> bool:
        if scope["path"].startswith(TOKEN_PATHS):
            secret = read_secret(headers)
            return bool(secret) and await self.lookups.find_bearer(secret or "") is not None
        return await self.lookups.is_signed_in(headers)


class Router:
    """Sends to the gate what the front has prepared for it, and all else to the views."""

    def __init__(self, gate: GateApp, views: App) -> None:
        self.gate, self.views = gate, views

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: Any = self.gate if BEARER in scope else self.views
        await app(scope, receive, send)


def bound_sending(send: Send) -> Send:
    """Return a `send` that gives up a client which does not read, so that no thread waits for it for long."""
    is_gone = False

    async def send_in_time(message: Message) -> None:
        nonlocal is_gone
        if is_gone:
            return
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)
        except TimeoutError:
            is_gone = True

    return send_in_time


def refuse(scope: Scope, error: Exception) -> RawReply:
    """Answer what the front itself cannot or will not pass on."""
    if isinstance(error, BodyTimeoutError):
        error = ApiError(408, "REQUEST_TIMEOUT", "The body did not arrive in time. Send it again.")
    elif isinstance(error, BodyTooLongError):
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        error = ApiError(413, "TOO_LARGE", f"The body is over {limit:,} bytes. Send it in parts.")
    gate_call = find_gate_call(scope)
    if gate_call is not None:
        return gate_call.refuse(error)
    reply = describe_error(error)
    headers = reply.headers if isinstance(error, UnavailableError) else {**reply.headers, **CLOSE}
    if scope["path"].startswith(TOKEN_PATHS):
        return to_json(reply.status_code, error_body(reply.error_type, reply.error, **reply.extra), headers)
    text_type = {"Content-Type": "text/plain; charset=utf-8"}
    return RawReply(reply.status_code, reply.error.encode(), {**text_type, **headers})


def _is_json(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def _has_body(headers: Mapping[str, str]) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
