"""Add and remove outlets. Each change is recorded in the ledger; secrets never are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from controlplane.shared import http_post
from traces.errors import OutletError
from traces.ledger import proofs
from traces.ledger.append import NewEntry, append
from traces.models import EntryKind, Outlet
from traces.outlets import webhook

MAX_OUTLETS = 20  # of one workspace
MAX_HEADER_LENGTH = 400


@dataclass(frozen=True, slots=True)
class OutletSettings:
    """The settings of a new outlet.

    `header` is a collector's `Authorization`; a webhook gets a generated secret instead.
    """

    form: str
    url: str
    kinds: Sequence[str] = ()
    include_bodies: bool = False
    header: str = ""
    from_start: bool = False  # deliver the ledger from its first entry instead of from now on


def add_outlet(workspace_id: int, settings: OutletSettings, *, actor: str) -> Outlet:
    """Create an outlet. Raises OutletError."""
    _validate(workspace_id, settings)
    head = proofs.find_head(workspace_id)
    outlet = Outlet(
        workspace_id=workspace_id,
        form=settings.form,
        url=settings.url,
        kinds=sorted(set(settings.kinds)),
        whole=settings.include_bodies,
        secret=webhook.generate_secret() if settings.form == Outlet.Form.WEBHOOK else settings.header,
        next_seq=0 if settings.from_start or head is None else head.size,
        next_try_at=timezone.now(),
    )
    with transaction.atomic():
        outlet.save()
        _record(outlet, "added", actor)
    return outlet


def _validate(workspace_id: int, settings: OutletSettings) -> None:
    header = settings.header
    if settings.form not in Outlet.Form.values:
        raise OutletError("Choose a webhook or a collector.")
    if not set(settings.kinds) <= set(EntryKind.values):
        raise OutletError("Choose kinds of entries from the list.")
    if len(header) > MAX_HEADER_LENGTH or not header.isprintable() or not header.isascii():
        raise OutletError(f"The header must be one line of at most {MAX_HEADER_LENGTH} ASCII characters.")
    try:
        http_post.check_url(settings.url)
    except http_post.TargetError as error:
        raise OutletError(str(error)) from error
    # The same entries twice to one address would look like a faulty retry to the receiver.
    existing = Outlet.objects.filter(workspace_id=workspace_id)
    same_target = existing.filter(form=settings.form, url=settings.url, whole=settings.include_bodies)
    if same_target.filter(kinds=sorted(set(settings.kinds))).exists():
        raise OutletError("An outlet with this URL and these kinds exists already. Remove it first.")
    if existing.count() >= MAX_OUTLETS:
        raise OutletError(f"A workspace has at most {MAX_OUTLETS} outlets; remove one first.")


def remove_outlet(outlet: Outlet, *, actor: str) -> None:
    with transaction.atomic():
        _record(outlet, "removed", actor)
        outlet.delete()


def retry_now(outlet: Outlet) -> None:
    Outlet.objects.filter(pk=outlet.pk).update(next_try_at=timezone.now())


def _record(outlet: Outlet, outcome: str, actor: str) -> None:
    body = {
        "what": "outlet",
        "form": outlet.form,
        "url": outlet.url,
        "kinds": outlet.kinds,
        "whole": outlet.whole,
    }
    append(NewEntry(outlet.workspace_id, EntryKind.POLICY, body, outcome=outcome, actor=actor))
