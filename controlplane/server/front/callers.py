"""Find out who sends a request, before its body is read: the token, the page's session, or the address."""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import close_old_connections
from django.http import parse_cookie
from django.http.request import split_domain_port, validate_host
from django.utils import timezone

from controlplane.api.authentication import SCHEME
from controlplane.server.front.fair_queue import Payer
from controlplane.shared.database.limits import limit_waits
from controlplane.shared.errors import UnavailableError
from controlplane.shared.tokens import Bearer, find_cached_bearer, get_cached_bearer
from sessions.live.hold_open import Scope

LOOKUP_THREADS = 2
LOOKUP_SECONDS = 5
MAX_LOOKUPS = 200  # that wait: a flood of unknown tokens is refused rather than queued
HTTPS = "https"
NO_ANSWER = "The server has no time for this request. Send it again shortly."

T = TypeVar("T")


class Lookups:
    """Queries of the event loop, on two threads of their own."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(LOOKUP_THREADS, thread_name_prefix="lookup")
        self._waiting = 0

    async def run(self, find: Callable[[str], T], key: str) -> T:
        """Return `find(key)`. Raise UnavailableError when it takes too long, DatabaseError as it comes."""
        if self._waiting >= MAX_LOOKUPS:
            raise UnavailableError(NO_ANSWER)
        self._waiting += 1
        context = contextvars.copy_context()  # with the id of the request, for what the query logs
        future = asyncio.get_running_loop().run_in_executor(
            self._pool, context.run, _with_connection, find, key
        )
        future.add_done_callback(self._count_down)
        try:
            return await asyncio.wait_for(asyncio.shield(future), LOOKUP_SECONDS)
        except TimeoutError:
            raise UnavailableError(NO_ANSWER) from None

    def _count_down(self, future: asyncio.Future[T]) -> None:
        self._waiting -= 1
        if not future.cancelled():
            future.exception()  # seen, also where nobody waits for it any more

    async def find_bearer(self, secret: str) -> Bearer | None:
        return get_cached_bearer(secret) or await self.run(find_cached_bearer, secret)

    async def is_signed_in(self, headers: Mapping[str, str]) -> bool:
        """Return whether the cookie names a session that lives; its user is looked up by the view."""
        key = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME, "")
        return bool(key) and await self.run(_is_session, key)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def read_headers(scope: Scope) -> dict[str, str]:
    """Return the headers by lower-case name; of several with one name the last."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def read_secret(headers: Mapping[str, str]) -> str | None:
    header = headers.get("authorization", "")
    return header[len(SCHEME) :].strip() if header[: len(SCHEME)].lower() == SCHEME else None


def identify(scope: Scope, headers: Mapping[str, str]) -> Payer:
    """Name who pays for a request, as far as that is known without a query."""
    secret = read_secret(headers)
    bearer = get_cached_bearer(secret) if secret else None
    if bearer is not None:
        return Payer(bearer.workspace_id, bearer.token_id)
    address = (scope.get("client") or ("", 0))[0]
    cookie = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME, "")
    # Whoever invents cookies or tokens stays one caller: the address is the group, they are its members.
    return Payer(address, hashlib.sha256(f"{secret}:{cookie}".encode()).digest()[:8])


def is_addressed_well(headers: Mapping[str, str]) -> bool:
    """Return whether Django would take the request as it came: under a known host, by https where asked."""
    if settings.SECURE_SSL_REDIRECT and headers.get("x-forwarded-proto") != HTTPS:
        return False
    domain, _ = split_domain_port(headers.get("host", ""))
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _with_connection(find: Callable[[str], T], key: str) -> T:
    limit_waits()
    close_old_connections()
    return find(key)


def _is_session(key: str) -> bool:
    return Session.objects.filter(session_key=key, expire_date__gt=timezone.now()).exists()
