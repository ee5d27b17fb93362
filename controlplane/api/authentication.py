"""Bearer tokens, the only credentials of the REST API. Session cookies are ignored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from controlplane.shared.tokens import Bearer, find_bearer

SCHEME = "bearer "


def read_bearer_secret(request: Request) -> str | None:
    """Return the token in the Authorization header, None without the header. Raise AuthenticationFailed."""
    header = request.META.get("HTTP_AUTHORIZATION", "")
    if not header:
        return None
    if header[: len(SCHEME)].lower() != SCHEME:
        raise AuthenticationFailed("Send a token: Authorization: Bearer icp_…")
    return str(header[len(SCHEME) :].strip())


class TokenAuthentication(BaseAuthentication):
    """Set `request.auth` to a `Bearer`. `request.user` stays None: users sign in on pages only."""

    def __init__(self, find: Callable[[str], Bearer | None] = find_bearer) -> None:
        self.find = find

    def authenticate(self, request: Request) -> tuple[None, Bearer] | None:
        secret = read_bearer_secret(request)
        if secret is None:
            return None
        bearer = self.find(secret)
        if bearer is None:
            raise AuthenticationFailed("This token is unknown or was revoked.")
        return None, bearer

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped library hook
    target_class = "controlplane.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A workspace token, `icp_…`."}
