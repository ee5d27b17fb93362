"""REST for the ledger: its head, proofs, verification and redaction. Unsealed entries are sealed first."""

from __future__ import annotations

from dataclasses import asdict

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError
from controlplane.api.pagination import read_integer
from controlplane.api.views import WorkspaceView
from traces.api import schema
from traces.api.views import StreamView
from traces.evidence import cose_receipt
from traces.ledger import checkpoints, merkle, proofs
from traces.ledger.log_name import log_origin
from traces.ledger.missing_bodies import MissingBodies, find_archive
from traces.ledger.redaction import find_redaction, redact
from traces.ledger.sealing import count_unsealed, seal
from traces.models import Checkpoint, EntryKind, LedgerBody, LedgerEntry, LedgerLeaf
from traces.verification.verify import verify

MAX_SIZE = 2**53 - 1


class LedgerView(StreamView):
    @extend_schema(
        operation_id="ledger_get", summary="The signed head of the workspace's ledger",
        responses=schema.answers({200: schema.HeadAnswer}),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        workspace_id = self.bearer.workspace_id
        seal(workspace_id)
        head = proofs.find_head(workspace_id)
        log = log_origin(workspace_id)
        return Response(
            {
                "log": log,
                "size": head.size if head else 0,
                "root": (bytes(head.root) if head else merkle.EMPTY_ROOT).hex(),
                "waiting": count_unsealed(workspace_id),
                "sealed_at": head.created_at if head else None,
                "checkpoint": head.note if head else None,
                "verifier_key": checkpoints.format_verifier_key(log, checkpoints.load_public_key()),
            }
        )


class VerifyView(StreamView):
    @extend_schema(
        operation_id="ledger_verify", summary="Recompute the whole ledger from its evidence",
        responses=schema.answers({200: schema.VerifyAnswer}),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        seal(self.bearer.workspace_id)
        report = verify(self.bearer.workspace_id)
        fields = asdict(report)
        del fields["workspace_id"]
        return Response({"ok": report.ok, **fields})


class CheckpointView(StreamView):
    @extend_schema(
        operation_id="ledger_checkpoint", summary="The newest signed head as a text to keep elsewhere",
        responses=schema.answers({(200, "text/plain"): OpenApiTypes.STR}, 404),
    )  # fmt: skip
    def get(self, request: Request) -> HttpResponse:
        seal(self.bearer.workspace_id)
        head = proofs.find_head(self.bearer.workspace_id)
        if head is None:
            raise ApiError(404, "NOT_FOUND", "Nothing is sealed yet.")
        return HttpResponse(head.note.encode(), content_type="text/plain; charset=utf-8")


class InclusionView(StreamView):
    @extend_schema(
        operation_id="ledger_prove_inclusion", summary="Prove that an entry is in the ledger",
        parameters=[
            schema.query("entry", "The entry's id (or its place, as #17).", required=True),
            schema.query("size", "Of the tree; the newest when absent.", OpenApiTypes.INT),
        ],
        responses=schema.answers({200: schema.InclusionAnswer}, 404),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        workspace_id = self.bearer.workspace_id
        size = _size_param(request, "size", seal(workspace_id).size)
        name = request.query_params.get("entry", "")
        if not name:
            raise ApiError(400, "INVALID_INPUT", "entry is missing: an id, or a place such as #17 (%2317).")
        entry = _find_entry(workspace_id, name)
        try:
            proof = proofs.prove_inclusion(entry, size)
        except ValueError as error:
            raise ApiError(400, "INVALID_INPUT", f"The entry came later: {error}.") from error
        document = proof.to_document(entry, log_origin(workspace_id))
        body = _body_fields(
            entry, is_visible=entry.kind == EntryKind.TRACE or self.bearer.has_role("reviewer")
        )
        return Response(document | body | {"checkpoint": _find_note(workspace_id, size)})


class ReceiptView(StreamView):
    @extend_schema(
        operation_id="ledger_receipt", summary="The proof that an entry is in the ledger, as a COSE receipt",
        description=(
            "A receipt of inclusion (RFC 9942) for tools of SCITT. Its payload, the root, is left out: it "
            "follows from the entry's envelope, which stands in the proof of inclusion and in bundles."
        ),
        responses=schema.answers(
            {(200, cose_receipt.CONTENT_TYPE): OpenApiTypes.BINARY, 409: schema.NOT_PROVABLE}, 404
        ),
    )  # fmt: skip
    def get(self, request: Request, entry_id: str) -> HttpResponse:
        seal(self.bearer.workspace_id)
        receipt = cose_receipt.sign_cose_receipt(_find_entry(self.bearer.workspace_id, entry_id))
        headers = {"Content-Disposition": 'attachment; filename="receipt.cose"'}
        return HttpResponse(receipt, content_type=cose_receipt.CONTENT_TYPE, headers=headers)


class ConsistencyView(StreamView):
    @extend_schema(
        operation_id="ledger_prove_consistency", summary="Prove that the ledger only grew between two sizes",
        parameters=[
            schema.query("from", "The earlier size.", OpenApiTypes.INT, required=True),
            schema.query("to", "The later size; the newest when absent.", OpenApiTypes.INT),
        ],
        responses=schema.answers({200: schema.ConsistencyAnswer}),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        workspace_id = self.bearer.workspace_id
        new = _size_param(request, "to", seal(workspace_id).size)
        if not request.query_params.get("from"):
            raise ApiError(400, "INVALID_INPUT", "from is missing: the earlier size.")
        old = read_integer(request, "from", 0, low=0, high=MAX_SIZE)
        if old > new:
            raise ApiError(400, "INVALID_INPUT", f"from is larger than to ({new}).")
        proof = proofs.prove_consistency(workspace_id, old, new)
        return Response(proof.to_document(log_origin(workspace_id)))


class RedactView(WorkspaceView):
    @extend_schema(
        operation_id="ledger_redact", summary="Take the body of an entry out, for good, with a record of it",
        description="The entry keeps its place, so everything still verifies. The first redaction stands.",
        request=schema.RedactBody, responses=schema.answers({200: schema.RedactAnswer}, 404),
    )  # fmt: skip
    def post(self, request: Request, entry_id: str) -> Response:
        serializer = schema.RedactBody(data=request.data)
        serializer.is_valid(raise_exception=True)
        seal(self.bearer.workspace_id)
        entry = _find_entry(self.bearer.workspace_id, entry_id)
        redact(entry, reason=serializer.validated_data["reason"], actor=self.actor)
        record = find_redaction(entry)
        assert record is not None  # made just now or before; nothing takes it away
        return Response(
            {
                "entry_id": entry.entry_id,
                "redacted": True,
                "redaction_id": record.entry_id,
                "redacted_at": record.received_at,
                "archived_in": find_archive(entry, until=record.received_at),
            }
        )


def _size_param(request: Request, name: str, newest: int) -> int:
    size = read_integer(request, name, newest, low=0, high=MAX_SIZE)
    if size > newest:
        raise ApiError(400, "INVALID_INPUT", f"{name} is larger than the ledger ({newest}).")
    return size


def _find_entry(workspace_id: int, name: str) -> LedgerEntry:
    """Find a sealed entry by id, or by position as in `#17`. Raise ApiError 404."""
    rows = LedgerEntry.objects.for_workspace(workspace_id).sealed()
    number = name.removeprefix("#")
    if name.startswith("#") and number.isascii() and number.isdigit() and len(number) < 16:
        leaf = (
            LedgerLeaf.objects.filter(workspace_id=workspace_id, seq=int(number))
            .select_related("entry")
            .first()
        )
        entry = leaf.entry if leaf else None
    else:
        entry = rows.filter(entry_id=name).order_by("pk").first() if "\x00" not in name else None
    if entry is None:
        raise ApiError(404, "NOT_FOUND", "There is no such entry in this workspace.")
    return entry


def _body_fields(entry: LedgerEntry, *, is_visible: bool) -> dict[str, str | None]:
    """Return salt and body; None after a redaction, or where the token may not read them."""
    if not is_visible:
        return {"salt": None, "body": None, "archived_in": None}
    stored = LedgerBody.objects.filter(entry=entry).first()
    if stored is None:
        file = MissingBodies(entry.workspace_id).explain(entry).file
        return {"salt": None, "body": None, "archived_in": file or None}
    return {"salt": bytes(stored.salt).hex(), "body": bytes(stored.body).decode(), "archived_in": None}


def _find_note(workspace_id: int, size: int) -> str | None:
    notes = Checkpoint.objects.filter(workspace_id=workspace_id, size=size)
    return notes.values_list("note", flat=True).first()
