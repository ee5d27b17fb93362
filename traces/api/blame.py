"""REST for blame by intent, of a file on disk or of a text in the request."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError
from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.api.pagination import read_boolean
from controlplane.api.parsers import parse_json
from controlplane.api.raw_body import JSON_TYPE, read_body
from controlplane.models import Workspace
from traces.api import schema
from traces.api.views import StreamView
from traces.blame.blame import (
    MAX_CONTENT,
    Blame,
    Deletion,
    LineAuthor,
    blame,
    blame_with_history,
    find_deletion,
    read_from_disk,
)
from traces.entry_schema import to_canonical_path
from traces.evidence.answers import list_named_entries, prove_answer
from traces.ranges.file_history import FileHistory, PathChange, read_file_history
from traces.ranges.git_reader import Commit
from traces.ranges.lineage import IN_PLACE, MOVED, REFORMATTED, UNCLAIMED, Lineage, OriginRange

MAX_CHANGED = 100
DISK, HEAD = "disk", "head"


class BlameBody(schema.Body):
    path = StrField(help_text="Relative to the workspace.")
    content = StrField(allow_blank=True, trim_whitespace=False, help_text="The file's text now, up to 1 MiB.")


class RecordedRange(schema.Body):
    entry_id = StrField()
    intent_id = StrField(help_text="Empty where the entry names none.")
    session_id = StrField()
    agent = StrField()
    mutation_class = StrField()
    changed_at = s.DateTimeField()
    start = IntField(help_text="The first line when it was recorded.")
    end = IntField(help_text="The last line when it was recorded.")
    path = StrField(help_text="The file's name when it was recorded.")


class BlameCommit(schema.Body):
    revision = StrField()
    committed_at = s.DateTimeField()
    author = StrField(help_text="The name that the commit tells.")


class Reformatting(schema.Body):
    commit = BlameCommit(allow_null=True, help_text="Null where it is not committed, or not known.")
    origin = RecordedRange(allow_null=True, help_text="The entry that recorded it, if one did.")


class BlameSpan(schema.Body):
    start_line = IntField()
    end_line = IntField(help_text="Inclusive.")
    state = s.ChoiceField(
        choices=[IN_PLACE, MOVED, REFORMATTED, UNCLAIMED],
        help_text="unclaimed: nobody recorded them. reformatted: the same tokens, other white space.",
    )
    origin = RecordedRange(allow_null=True)
    commit = BlameCommit(
        allow_null=True, help_text="Which commit brought the lines as they are; null: none yet, or not known."
    )
    reformatted_by = Reformatting(allow_null=True)


class OtherName(schema.Body):
    path = StrField()
    renamed_to = StrField(help_text="Empty where the commit took the file away.")
    commit = BlameCommit()


class BlameDeletion(schema.Body):
    origin = RecordedRange(allow_null=True, help_text="The entry that deleted the file; lines are 0.")
    change = OtherName(allow_null=True, help_text="The commit that deleted or renamed it.")


class BlameAnswer(schema.Body):
    path = StrField()
    lines = IntField()
    spans = BlameSpan(many=True, help_text="Each line once, in order.")
    changed = RecordedRange(many=True, help_text="Ranges that were changed since; the newest 100.")
    unchecked = IntField(help_text="Ranges with another kind of hash, or beyond what one call searches.")
    truncated = BoolField(help_text="True when the file has older ranges than were looked at.")
    followed = BoolField(help_text="True when lines were followed through the history of the git repository.")
    note = StrField(help_text="Why the history was not followed, or not whole; else empty.")
    history_cut = BoolField(help_text="True when there are older commits than were read.")
    names = OtherName(many=True, help_text="The renames that led to this name, the newest first.")
    deleted = BlameDeletion(allow_null=True, help_text="How the file ended, where it no longer exists.")
    proof = schema.AnswerProof(required=False, help_text="With ?proof=true: every entry that is named.")


class BlameView(StreamView):
    @extend_schema(
        operation_id="files_blame_get", summary="Which intent the lines of a file on disk come from",
        parameters=[
            schema.query("path", "Relative to the workspace.", required=True),
            schema.query("at", "`disk` (as it is there now; default) or `head` (as the last commit has it)."),
            schema.PROOF,
        ],
        responses=schema.answers({200: BlameAnswer}, 404),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        path, at = _path_param(request.query_params.get("path", "")), request.query_params.get("at", DISK)
        if at not in {DISK, HEAD}:
            raise ApiError(400, "INVALID_FIELD", f"at: {DISK} or {HEAD}.")
        root, workspace_id = _find_root(self.bearer.workspace_id), self.bearer.workspace_id
        history = read_file_history(root, path) if root else FileHistory()
        content = read_from_disk(root, path) if at == DISK else history.head_content
        if content is not None:
            answer = _to_answer(path, blame_with_history(workspace_id, path, content, history))
            return Response(self._with_proof(request, answer))
        deletion = find_deletion(workspace_id, path, root, history)
        if deletion is None:
            text = "The server has no such file of up to 1 MiB on disk. Send its text with POST."
            raise ApiError(404, "NOT_FOUND", text)
        empty = Blame(Lineage(0, (), (), ()), {}, truncated=False, history=history, note=history.note)
        answer = _to_answer(path, empty) | {"deleted": _deletion_fields(deletion)}
        return Response(self._with_proof(request, answer))

    @extend_schema(
        operation_id="files_blame_post", summary="Which intent the lines of a text come from",
        parameters=[schema.PROOF], request={JSON_TYPE: BlameBody},
        responses=schema.answers({200: BlameAnswer}, 413, 415),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = BlameBody(data=parse_json(read_body(request, (JSON_TYPE,))))
        body.is_valid(raise_exception=True)
        path = _path_param(body.validated_data["path"])
        content = body.validated_data["content"].encode()
        if len(content) > MAX_CONTENT:
            raise ApiError(413, "TOO_LARGE", f"content is over {MAX_CONTENT:,} bytes.")
        workspace_id = self.bearer.workspace_id
        answer = _to_answer(path, blame(workspace_id, path, content, _find_root(workspace_id)))
        return Response(self._with_proof(request, answer))

    def _with_proof(self, request: Request, answer: dict[str, Any]) -> dict[str, Any]:
        if not read_boolean(request, "proof"):
            return answer
        return answer | {"proof": prove_answer(self.bearer.workspace_id, list_named_entries(answer))}


def _find_root(workspace_id: int) -> str:
    return Workspace.objects.values_list("local_root", flat=True).get(pk=workspace_id)


def _path_param(text: str) -> str:
    try:
        return to_canonical_path(text)
    except ValueError as error:
        raise ApiError(400, "INVALID_FIELD", f"path: {error}") from error


def _to_answer(path: str, result: Blame) -> dict[str, Any]:
    lineage = result.lineage
    changed = [_range_fields(result.authors[key]) for key in lineage.changed[:MAX_CHANGED]]
    return {
        "path": path,
        "lines": lineage.lines,
        "spans": [_span_fields(line_range, result) for line_range in lineage.ranges],
        "changed": changed,
        "unchecked": len(lineage.unchecked),
        "truncated": result.truncated,
        "followed": result.follows_history,
        "note": result.note,
        "history_cut": result.history.is_truncated,
        "names": [_rename_fields(change) for change in result.history.renames],
        "deleted": None,
    }


def _span_fields(line_range: OriginRange, result: Blame) -> dict[str, Any]:
    commit = _commit_fields(result.find_commit(line_range.version))
    by = (
        {"commit": commit, "origin": _origin_fields(line_range.reformatted_by, result)}
        if line_range.state == REFORMATTED
        else None
    )
    return {
        "start_line": line_range.start,
        "end_line": line_range.end,
        "state": line_range.state,
        "origin": _origin_fields(line_range.key, result),
        "commit": commit,
        "reformatted_by": by,
    }


def _origin_fields(key: int | None, result: Blame) -> dict[str, Any] | None:
    return None if key is None else _range_fields(result.authors[key])


def _range_fields(author: LineAuthor) -> dict[str, Any]:
    fields = asdict(author)
    del fields["number"]  # a row's number is nothing to rely on
    return fields


def _commit_fields(commit: Commit | None) -> dict[str, Any] | None:
    if commit is None:
        return None
    return {"revision": commit.revision, "committed_at": commit.committed_at, "author": commit.author}


def _rename_fields(change: PathChange) -> dict[str, Any]:
    return {"path": change.old, "renamed_to": change.new, "commit": _commit_fields(change.commit)}


def _deletion_fields(deletion: Deletion) -> dict[str, Any]:
    return {
        "origin": _range_fields(deletion.entry) if deletion.entry else None,
        "change": _rename_fields(deletion.change) if deletion.change else None,
    }
