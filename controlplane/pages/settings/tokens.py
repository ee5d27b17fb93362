"""Issue and revoke tokens, with a ledger entry for each. A token's text is never recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from controlplane.shared.tokens import create_token, revoke_token
from traces.ledger.append import NewEntry, append

if TYPE_CHECKING:
    from controlplane.models import Token, Workspace


def issue(
    workspace: Workspace, role: str, name: str, *, acts_for_id: int | None, actor: str
) -> tuple[Token, str]:
    """Create a token. Return it with its text, which is stored nowhere."""
    with transaction.atomic():
        token, secret = create_token(workspace, role, name, acts_for_id=acts_for_id)
        _record(token, "issued", actor)
    return token, secret


def revoke(token: Token, *, actor: str) -> None:
    """Revoke a token, effective on the next call. Revoking twice is recorded once."""
    with transaction.atomic():
        if token.revoked_at is None:
            revoke_token(token)
            _record(token, "revoked", actor)


def _record(token: Token, outcome: str, actor: str) -> None:
    body = {
        "what": "token",
        "token_id": token.pk,
        "name": token.name,
        "role": token.role,
        "acts_for": token.acts_for_id,
    }
    append(NewEntry(workspace_id=token.workspace_id, kind="policy", body=body, outcome=outcome, actor=actor))
