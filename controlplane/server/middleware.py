"""Security headers of every response, and the end of sign-ins that nobody uses."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout
from django.http import HttpRequest, HttpResponse

TOKEN_PATHS = ("/api/", "/hooks/")  # their answers are for one caller: no cache on the way may keep them
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def security_headers(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        if request.path.startswith(TOKEN_PATHS):
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    return middleware


LAST_USED = "last_used"  # in the session: when a request last came, in seconds
PRECISION_SECONDS = 300  # so that not every request writes


def end_idle_sign_ins(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Sign out who has asked for nothing in `SIGN_IN_IDLE_SECONDS`; 0 means never."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if settings.SIGN_IN_IDLE_SECONDS and settings.SESSION_COOKIE_NAME in request.COOKIES:
            _note_use(request)
        return get_response(request)

    return middleware


def _note_use(request: HttpRequest) -> None:
    if SESSION_KEY not in request.session:
        return
    now = int(time.time())
    last_used = request.session.get(LAST_USED, now)
    if now - last_used > settings.SIGN_IN_IDLE_SECONDS:
        logout(request)
    elif LAST_USED not in request.session or now - last_used > PRECISION_SECONDS:
        request.session[LAST_USED] = now
