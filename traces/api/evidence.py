"""REST for auditors: bundles of evidence, and the changes of keys."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from controlplane.api.errors import ApiError
from controlplane.api.pagination import read_integer
from traces.api import schema
from traces.api.views import StreamView
from traces.browser.export import stream_evidence
from traces.browser.filters import parse_filters
from traces.evidence.bundle import EvidenceRequest
from traces.ledger.keys.changes import join_notes, list_key_changes
from traces.models import EntryKind, LedgerEntry

MAX_SIZE = 2**53 - 1


class EvidenceView(StreamView):
    @extend_schema(
        operation_id="ledger_evidence", summary="A zip that proves entries without this server",
        description=(
            "Takes the filters of the page of traces (kind, outcome, agent, intent, tool, session, path, q, "
            "since, until, last; a leading minus excludes). The zip holds the entries with proofs of "
            "inclusion, the signed head, the changes of keys, a signed seal of the list, and the verifier in "
            "one file. Bodies of other kinds than traces need a reviewer's token."
        ),
        parameters=[
            schema.query("kind", "Any of these kinds."),
            schema.query("session", "Entries of this session."),
            schema.query("intent", "Entries under this intent."),
            schema.query("path", "Entries about a file, or about everything below a folder."),
            schema.query("since", "Received then or later, RFC 3339."),
            schema.query("until", "Received before."),
            schema.query(
                "from", "Size of a head that you kept: the bundle proves it was continued.", OpenApiTypes.INT
            ),
        ],
        responses=schema.answers({(200, "application/zip"): OpenApiTypes.BINARY}),
    )  # fmt: skip
    def get(self, request: Request) -> StreamingHttpResponse:
        filters = parse_filters(request.query_params, timezone.now())
        if filters.errors:
            raise ApiError(400, "INVALID_INPUT", filters.errors[0])
        old_size = read_integer(request, "from", 0, low=0, high=MAX_SIZE) or None
        reads_all = self.bearer.has_role("reviewer")
        evidence = EvidenceRequest(
            filters.to_query_string(), lambda entry: reads_all or is_for_agents(entry), old_size
        )
        lines = stream_evidence(self.bearer.workspace_id, filters, evidence)
        headers = {"Content-Disposition": 'attachment; filename="evidence.zip"'}
        return StreamingHttpResponse(lines, content_type="application/zip", headers=headers)


class KeyChangesView(StreamView):
    @extend_schema(
        operation_id="ledger_key_changes", summary="The changes of the key, each signed by old and new",
        responses=schema.answers({(200, "text/plain"): OpenApiTypes.STR}),
    )  # fmt: skip
    def get(self, request: Request) -> HttpResponse:
        notes = list_key_changes(self.bearer.workspace_id)
        return HttpResponse(join_notes(notes).encode(), content_type="text/plain; charset=utf-8")


def is_for_agents(entry: LedgerEntry) -> bool:
    """Return whether an agent's token may read the body of an entry."""
    return entry.kind == EntryKind.TRACE
