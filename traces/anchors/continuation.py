"""Compare the ledger with the last heads outside before another leaves, and stop where they contradict it."""

from __future__ import annotations

import logging

from django.db import transaction
from django.db.models import F, QuerySet

from controlplane.models import Workspace
from traces.anchors.outside_record import accept_heads, compute_digest, read_record
from traces.anchors.targets import ANCHOR_FAILURES, READERS
from traces.ledger import merkle, proofs
from traces.ledger.append import NewEntry, append
from traces.ledger.checkpoints import NoteError, SignedNote, is_signed_by_installation, parse_checkpoint
from traces.ledger.log_name import is_log_name
from traces.models import EntryKind, LedgerAnchor

log = logging.getLogger(__name__)

MAX_ANSWER = 400


def find_contradiction(anchor: LedgerAnchor) -> str:
    """Return why the ledger does not continue the last head that an anchor holds; "" where it does.

    Read the anchor back; of a webhook, what any anchor was sent last. Raise one of `ANCHOR_FAILURES`.
    """
    notes = [read_record(anchor.workspace_id)["head"]]
    if anchor.kind in READERS:
        notes += READERS[anchor.kind](anchor, Workspace.objects.get(pk=anchor.workspace_id))
    return compare_with_heads(anchor.workspace_id, notes)


def compare_with_heads(workspace_id: int, notes: list[str]) -> str:
    """Return why the ledger does not continue the largest of the heads that count; "" where it does.

    The ledger's own head is read after the notes were, so that it cannot be the older one by chance.
    """
    accepted = set(read_record(workspace_id)["accepted"])
    counting = [note for note in notes if note and compute_digest(note) not in accepted]
    last = max((_parse(note, workspace_id) for note in counting), key=lambda one: one.size, default=None)
    head = proofs.find_head(workspace_id)
    size = head.size if head else 0
    if last is None:
        return ""
    if head is None or last.size > size:
        return f"{last.size:,} entries were anchored, but the ledger has only {size:,}."
    proof = proofs.prove_consistency(workspace_id, last.size, size)
    if merkle.verify_consistency(last.size, size, proof.hashes, last.root, bytes(head.root)):
        return ""
    return (
        f"{last.size:,} entries were anchored, but the ledger does not continue them: its history is another."
    )


def mark_contradicted(workspace_id: int, reason: str) -> None:
    """Stop all anchors of a workspace, so that pages say so, and log it once."""
    anchors = LedgerAnchor.objects.filter(workspace_id=workspace_id)
    if anchors.filter(contradicted=False).update(contradicted=True, answer=reason[:MAX_ANSWER]):
        log.error("The ledger of workspace %s is contradicted by its anchors: %s", workspace_id, reason)
    anchors.update(failures=F("failures") + 1, answer=reason[:MAX_ANSWER])


def describe_contradiction(workspace_id: int) -> str:
    """Return why the anchors contradict the ledger; "" where they do not. 1 query."""
    return list_contradictions(workspace_id).first() or ""


def list_contradictions(workspace_id: int) -> QuerySet[LedgerAnchor, str]:
    """Return the query for the reasons: a page asks it with others at once."""
    anchors = LedgerAnchor.objects.filter(workspace_id=workspace_id, contradicted=True)
    return anchors.values_list("answer", flat=True)


def check_last_head(workspace_id: int) -> None:
    """Compare the ledger with the last head that left it, also while nothing new is to be sent."""
    note = read_record(workspace_id)["head"]
    if not note or describe_contradiction(workspace_id):
        return
    if reason := compare_with_heads(workspace_id, [note]):
        mark_contradicted(workspace_id, reason)


def accept_loss(workspace: Workspace, reason: str, *, actor: str) -> int:
    """Record that the heads outside are ahead of a restored ledger, and go on. Return how many heads."""
    notes = [read_record(workspace.pk)["head"]]
    for anchor in LedgerAnchor.objects.filter(workspace_id=workspace.pk, kind__in=READERS):
        try:
            notes += READERS[anchor.kind](anchor, workspace)
        except ANCHOR_FAILURES:
            continue
    lost = [note for note in dict.fromkeys(notes) if note and compare_with_heads(workspace.pk, [note])]
    body = {"what": "loss of entries", "reason": reason, "heads": lost}
    with transaction.atomic():
        append(NewEntry(workspace.pk, EntryKind.POLICY, body, outcome="accepted", actor=actor))
    accept_heads(workspace.pk, lost)
    LedgerAnchor.objects.filter(workspace_id=workspace.pk).update(contradicted=False, failures=0, answer="")
    return len(lost)


def _parse(note: str, workspace_id: int) -> SignedNote:
    """Raise NoteError for what is no head of this ledger by this installation: nobody else's may stop it."""
    head = parse_checkpoint(note)
    if not is_log_name(head.origin, workspace_id) or not is_signed_by_installation(head):
        raise NoteError("its last head is signed by no key of this installation")
    return head
