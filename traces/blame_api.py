"""REST for blame by intent: of a file on disk, or of a text that the caller sends."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError
from controlplane.api.fields import Text, Whole, YesNo
from controlplane.api.parsers import parse_json
from controlplane.models import Workspace
from traces import api_schema as schema
from traces.api import StreamView
from traces.blame import CONTENT_MOST, Author, Blame, blame, on_disk
from traces.lineage import IN_PLACE, MOVED, UNCLAIMED
from traces.raw_body import JSON_TYPE, body_bytes
from traces.shape import canonical_path

CHANGED_MOST = 100


class BlameBody(schema.Body):
    path = Text(help_text="Relative to the workspace.")
    content = Text(allow_blank=True, trim_whitespace=False, help_text="The file's text now, up to 1 MiB.")


class RecordedRange(schema.Body):
    entry_id = Text()
    intent_id = Text(help_text="Empty where the entry names none.")
    session_id = Text()
    agent = Text()
    mutation_class = Text()
    changed_at = s.DateTimeField()
    start = Whole(help_text="The first line when it was recorded.")
    end = Whole(help_text="The last line when it was recorded.")


class BlameSpan(schema.Body):
    start_line = Whole()
    end_line = Whole(help_text="Inclusive.")
    state = s.ChoiceField(
        choices=[IN_PLACE, MOVED, UNCLAIMED], help_text="unclaimed: no recorded hash explains these lines."
    )
    origin = RecordedRange(allow_null=True)


class BlameAnswer(schema.Body):
    path = Text()
    lines = Whole()
    spans = BlameSpan(many=True, help_text="Each line once, in order.")
    changed = RecordedRange(many=True, help_text="Ranges that were changed since; the newest 100.")
    unchecked = Whole(help_text="Ranges with another kind of hash, or beyond what one call searches.")
    truncated = YesNo(help_text="True when the file has older ranges than were looked at.")


class BlameView(StreamView):
    @extend_schema(
        operation_id="files_blame_get", summary="Which intent the lines of a file on disk come from",
        parameters=[schema.query("path", "Relative to the workspace.", required=True)],
        responses=schema.answers({200: BlameAnswer}, 404),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        path = _path(request.query_params.get("path", ""))
        root = Workspace.objects.values_list("local_root", flat=True).get(pk=self.bearer.workspace_id)
        content = on_disk(root, path)
        if content is None:
            text = "The server has no such file of up to 1 MiB on disk. Send its text with POST."
            raise ApiError(404, "NOT_FOUND", text)
        return Response(_answer(path, blame(self.bearer.workspace_id, path, content)))

    @extend_schema(
        operation_id="files_blame_post", summary="Which intent the lines of a text come from",
        request={JSON_TYPE: BlameBody}, responses=schema.answers({200: BlameAnswer}, 413, 415),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = BlameBody(data=parse_json(body_bytes(request, (JSON_TYPE,))))
        body.is_valid(raise_exception=True)
        path = _path(body.validated_data["path"])
        content = body.validated_data["content"].encode()
        if len(content) > CONTENT_MOST:
            raise ApiError(413, "TOO_LARGE", f"content is over {CONTENT_MOST:,} bytes.")
        return Response(_answer(path, blame(self.bearer.workspace_id, path, content)))


def _path(text: str) -> str:
    try:
        return canonical_path(text)
    except ValueError as error:
        raise ApiError(400, "INVALID_FIELD", f"path: {error}.") from error


def _answer(path: str, found: Blame) -> dict[str, Any]:
    lineage = found.lineage
    spans = [
        {
            "start_line": span.start,
            "end_line": span.end,
            "state": span.state,
            "origin": _recorded(found.authors[span.key]) if span.key is not None else None,
        }
        for span in lineage.spans
    ]
    changed = [_recorded(found.authors[key]) for key in lineage.changed[:CHANGED_MOST]]
    return {
        "path": path,
        "lines": lineage.lines,
        "spans": spans,
        "changed": changed,
        "unchecked": len(lineage.unchecked),
        "truncated": found.truncated,
    }


def _recorded(author: Author) -> dict[str, Any]:
    return asdict(author)
