"""Making, reading and revoking tokens."""

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
    """Whom a token speaks for, as plain values."""

    token_id: int
    name: str
    role: str
    workspace_id: int
    workspace_slug: str
    person_id: int | None

    @property
    def actor(self) -> str:
        """How the ledger names whoever used this token."""
        return f"token:{self.token_id}:{self.name}"

    def has_role(self, role: str) -> bool:
        return ROLE_LEVELS[self.role] >= ROLE_LEVELS[role]

    def is_active(self) -> bool:
        """Asks the database (1 query): the gate's memory may be stale."""
        return Token.objects.active().filter(pk=self.token_id).exists()


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def create_token(
    workspace: Workspace, role: str, name: str, *, acts_for_id: int | None = None
) -> tuple[Token, str]:
    """Make a token; the second value is its text, which nobody can read again."""
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
    """The bearer of a live token (1 query; one more when `last_used_at` is over a minute old)."""
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


# The gate's own memory of tokens. It may be stale, so the gate appends a decision only while
# `token_holds` is true in the same statement; nothing else may use it.
_cached_bearers: dict[str, Bearer] = {}
_MAX_CACHED = 10_000


def find_cached_bearer(secret: str) -> Bearer | None:
    """As `find_bearer`, from memory where possible (0 queries)."""
    digest = hash_secret(secret)
    bearer = _cached_bearers.get(digest)
    if bearer is None:
        bearer = find_bearer(secret)
        if bearer is not None:
            if len(_cached_bearers) >= _MAX_CACHED:
                _cached_bearers.clear()
            _cached_bearers[digest] = bearer
    return bearer


def forget_digest(digest: str) -> None:
    _cached_bearers.pop(digest, None)


def forget_token(token_id: int) -> None:
    """Drop a token from the gate's memory after the database said that it no longer holds."""
    for digest in [digest for digest, bearer in _cached_bearers.items() if bearer.token_id == token_id]:
        _cached_bearers.pop(digest, None)
