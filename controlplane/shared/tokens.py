"""Create, authenticate and revoke tokens."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from controlplane.models import Token, Workspace

PREFIX = "icp_"
HINT_LENGTH = 10
LAST_USED_PRECISION = timedelta(minutes=1)
ROLE_LEVELS = {"agent": 1, "reviewer": 2, "admin": 3}


@dataclass(frozen=True, slots=True)
class Bearer:
    """An authenticated token as plain values, without its database row."""

    token_id: int
    name: str
    role: str
    workspace_id: int
    workspace_slug: str
    person_id: int | None

    @property
    def actor(self) -> str:
        """The name of this token's user in ledger entries."""
        return f"token:{self.token_id}:{self.name}"

    def has_role(self, role: str) -> bool:
        return ROLE_LEVELS[self.role] >= ROLE_LEVELS[role]

    def is_active(self) -> bool:
        """Ask the database, because a cached bearer may be stale. 1 query."""
        return Token.objects.active().filter(pk=self.token_id).exists()


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def create_token(
    workspace: Workspace, role: str, name: str, *, acts_for_id: int | None = None
) -> tuple[Token, str]:
    """Create a token. Return it with its text, which is stored nowhere."""
    secret = PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        workspace=workspace,
        name=name,
        role=role,
        digest=hash_secret(secret),
        hint=secret[:HINT_LENGTH],
        acts_for_id=acts_for_id,
    )
    return token, secret


def revoke_token(token: Token) -> None:
    Token.objects.active().filter(pk=token.pk).update(revoked_at=timezone.now())
    forget_digest(token.digest)


def find_bearer(secret: str) -> Bearer | None:
    """Return the bearer of an active token, else None.

    1 query; one more when `last_used_at` is over a minute old.
    """
    token = Token.objects.active().by_digest(hash_secret(secret)).first()
    if token is None:
        return None
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_PRECISION:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
    return Bearer(
        token_id=token.pk,
        name=token.name,
        role=token.role,
        workspace_id=token.workspace_id,
        workspace_slug=token.workspace.slug,
        person_id=token.acts_for_id,
    )


# The gate's cache of bearers. It may be stale after a revocation in another process, so the gate appends a
# decision only if the same SQL statement finds the token still active. Nothing else may use it.
_cached_bearers: dict[str, Bearer] = {}
_MAX_CACHED = 10_000


def get_cached_bearer(secret: str) -> Bearer | None:
    """Return the bearer if the cache knows it. 0 queries."""
    return _cached_bearers.get(hash_secret(secret))


def find_cached_bearer(secret: str) -> Bearer | None:
    """Return what `find_bearer` returns, from the cache where possible (0 queries)."""
    digest = hash_secret(secret)
    bearer = _cached_bearers.get(digest)
    if bearer is None:
        bearer = find_bearer(secret)
        if bearer is not None:
            if (
                len(_cached_bearers) >= _MAX_CACHED
            ):  # unknown secrets are not cached, so guessing cannot fill it
                _cached_bearers.clear()
            _cached_bearers[digest] = bearer
    return bearer


def forget_digest(digest: str) -> None:
    _cached_bearers.pop(digest, None)


def forget_token(token_id: int) -> None:
    """Remove a token from the cache after the database reported it revoked."""
    for digest in [digest for digest, bearer in _cached_bearers.items() if bearer.token_id == token_id]:
        _cached_bearers.pop(digest, None)
