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
SEEN_EVERY = timedelta(minutes=1)
LEVELS = {"agent": 1, "reviewer": 2, "admin": 3}


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

    def may(self, role: str) -> bool:
        return LEVELS[self.role] >= LEVELS[role]

    def still_valid(self) -> bool:
        """Asks the database (1 query): the gate's memory may be stale."""
        return Token.objects.active().filter(pk=self.token_id).exists()


def digest_of(secret: str) -> str:
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
        digest=digest_of(secret),
        hint=secret[:HINT_LENGTH],
        acts_for_id=acts_for_id,
    )
    return token, secret


def revoke_token(token: Token) -> None:
    Token.objects.active().filter(pk=token.pk).update(revoked_at=timezone.now())
    forget(token.digest)


def find_bearer(secret: str) -> Bearer | None:
    """The bearer of a live token (1 query; one more when `last_used_at` is over a minute old)."""
    token = Token.objects.active().by_digest(digest_of(secret)).first()
    if token is None:
        return None
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > SEEN_EVERY:
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
_known: dict[str, Bearer] = {}
_MAX_KNOWN = 10_000


def known_bearer(secret: str) -> Bearer | None:
    """As `find_bearer`, from memory where possible (0 queries)."""
    digest = digest_of(secret)
    bearer = _known.get(digest)
    if bearer is None:
        bearer = find_bearer(secret)
        if bearer is not None:
            if len(_known) >= _MAX_KNOWN:
                _known.clear()
            _known[digest] = bearer
    return bearer


def forget(digest: str) -> None:
    _known.pop(digest, None)


def forget_token(token_id: int) -> None:
    """Drop a token from the gate's memory after the database said that it no longer holds."""
    for digest in [digest for digest, bearer in _known.items() if bearer.token_id == token_id]:
        _known.pop(digest, None)
