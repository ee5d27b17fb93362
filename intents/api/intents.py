"""REST for intents, `active_intents.yaml` and `.intentignore`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError
from controlplane.api.pagination import PAGE_PARAMETERS, paginate, read_boolean
from controlplane.api.raw_body import TEXT_TYPES, YAML_TYPES, RawBodyParser, read_parsed_body
from controlplane.api.views import WorkspaceView
from controlplane.policy.rules.constraints import find_reason_unchecked
from controlplane.shared.downloads import text_download
from intents import registry
from intents.api import schema
from intents.errors import IntentNotFoundError, InvalidRegistryFileError
from intents.file_format.registry_parser import parse_registry
from intents.file_format.report import Diagnostic, DiagnosticType
from intents.models import Intent
from intents.registry_file import import_export
from intents.rules import intentignore
from intents.selectors import find_intent, is_case_insensitive, serialize_intent

YAML_BODY = dict.fromkeys(YAML_TYPES, OpenApiTypes.STR)
READ_ONLY = frozenset({"id", "raw_status", "created_at", "updated_at", "acceptance_evidence", "warnings"})


class IntentsView(WorkspaceView):
    required_role = {"GET": "agent", "POST": "admin"}

    @extend_schema(
        operation_id="intents_list", summary="List intents, newest first",
        parameters=[schema.STATUS, *PAGE_PARAMETERS], responses=schema.responses_for(200, schema.IntentPage),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        rows = Intent.objects.for_workspace(self.bearer.workspace_id)
        status = request.query_params.get("status")
        if status is not None and status not in schema.STATUSES:
            raise ApiError(400, "INVALID_INPUT", f"status must be one of {', '.join(schema.STATUSES)}.")
        page = paginate(rows.filter(status=status) if status else rows, request)
        return Response(page | {"results": [serialize_intent(row) for row in page["results"]]})

    @extend_schema(
        operation_id="intents_create", summary="Register an intent", request=schema.NewIntentBody,
        responses=schema.responses_for(201, schema.SavedIntentAnswer, 409, 415, refused=True),
        examples=[schema.EXAMPLE_INTENT],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        document = _parse_body(schema.NewIntentBody, request.data)
        reason = document.pop("reason", "")
        intent = registry.create(self.workspace, document, actor=self.actor, reason=reason)
        return _answer_saved(intent, 201)


class IntentView(WorkspaceView):
    required_role = {"GET": "agent", "PATCH": "admin"}

    def get_intent(self, intent_id: str) -> Intent:
        intent = find_intent(self.bearer.workspace_id, intent_id)
        if intent is None:
            raise IntentNotFoundError(intent_id)
        return intent

    @extend_schema(
        operation_id="intents_get", summary="All fields of an intent",
        description="The ETag is the version, for If-Match.",
        responses=schema.responses_for(200, schema.IntentAnswer, 404),
    )  # fmt: skip
    def get(self, request: Request, intent_id: str) -> Response:
        return _answer(self.get_intent(intent_id))

    @extend_schema(
        operation_id="intents_change", summary="Change fields of an intent",
        description="A status must follow the allowed moves. Fields that only the server sets are ignored.",
        parameters=[schema.IF_MATCH], request=schema.IntentChangeBody,
        responses=schema.responses_for(200, schema.SavedIntentAnswer, 404, 409, 412, 415, refused=True),
    )  # fmt: skip
    def patch(self, request: Request, intent_id: str) -> Response:
        intent = self.get_intent(intent_id)
        changes = _parse_body(schema.IntentChangeBody, request.data, READ_ONLY)
        version = _read_version(request, changes.pop("version", None))
        reason = changes.pop("reason", "")
        registry.edit(intent, changes, actor=self.actor, reason=reason, version=version)
        return _answer_saved(intent)


class ValidateView(WorkspaceView):
    required_role = "agent"
    parser_classes = [RawBodyParser]

    @extend_schema(
        operation_id="intents_validate", summary="Validate a file; nothing is changed",
        parameters=[schema.LENIENT], request=YAML_BODY, examples=[schema.EXAMPLE_FILE],
        responses=schema.responses_for(200, schema.ReportAnswer, 415),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        lenient = read_boolean(request, "lenient")
        ignore_case = is_case_insensitive(self.bearer.workspace_id)
        reading = parse_registry(
            read_parsed_body(request, YAML_TYPES), lenient=lenient, ignore_case=ignore_case
        )
        return Response(reading.report.to_json())


class ImportView(WorkspaceView):
    required_role = "admin"
    parser_classes = [RawBodyParser]

    @extend_schema(
        operation_id="intents_import", summary="Import a file into the registry",
        description="All or nothing. Any status may be set.", request=YAML_BODY,
        parameters=[schema.MODE, schema.DRY_RUN, schema.LENIENT], examples=[schema.EXAMPLE_FILE],
        responses=schema.responses_for(200, schema.ImportAnswer, 415, refused=True),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        mode = request.query_params.get("mode") or "merge"
        if mode not in import_export.IMPORT_MODES:
            raise ApiError(400, "INVALID_INPUT", "mode must be merge or replace.")
        options = import_export.ImportOptions(mode, lenient=read_boolean(request, "lenient"))
        dry_run, data = read_boolean(request, "dry_run"), read_parsed_body(request, YAML_TYPES)
        if dry_run:
            result = import_export.preview_import(self.bearer.workspace_id, data, options)
        else:
            result = import_export.import_registry(self.workspace, data, options, actor=self.actor)
        details = {
            "mode": mode,
            "dry_run": dry_run,
            "applied": result.applied,
            "plan": result.plan.to_json(),
        }
        if not result.report.valid:
            raise InvalidRegistryFileError(result.report, **details)
        return Response(result.report.to_json() | details)


class ExportView(WorkspaceView):
    required_role = "agent"

    @extend_schema(
        operation_id="intents_export", summary="The registry as active_intents.yaml",
        responses=schema.responses_for((200, "application/yaml"), OpenApiTypes.OBJECT),
    )  # fmt: skip
    def get(self, request: Request) -> HttpResponse:
        return text_download(
            import_export.export_registry(self.workspace), "active_intents.yaml", "application/yaml"
        )


class IgnoreView(WorkspaceView):
    required_role = {"GET": "agent", "PUT": "admin"}
    parser_classes = [RawBodyParser]

    @extend_schema(
        operation_id="intentignore_get", summary="The workspace's .intentignore, byte for byte",
        responses=schema.responses_for((200, "text/plain"), OpenApiTypes.STR),
    )  # fmt: skip
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(self.workspace.intentignore.encode(), content_type="text/plain; charset=utf-8")

    @extend_schema(
        operation_id="intentignore_put", summary="Replace the workspace's .intentignore",
        description="As in gitignore, and lines like `intent: INT-007`. They take effect on the next call.",
        request={"text/plain": OpenApiTypes.STR},
        responses=schema.responses_for(200, schema.IgnoreAnswer, 415),
    )  # fmt: skip
    def put(self, request: Request) -> Response:
        text = intentignore.decode_text(read_parsed_body(request, TEXT_TYPES))
        warnings = intentignore.save_intentignore(self.workspace, text, actor=self.actor)
        return Response({"saved": True, "warnings": [asdict(warning) for warning in warnings]})


def _answer(intent: Intent) -> Response:
    return Response(serialize_intent(intent), headers={"ETag": f'"{intent.version}"'})


def _answer_saved(intent: Intent, status: int = 200) -> Response:
    """Return the intent with a warning for each constraint that the gate does not check."""
    answer = _answer(intent)
    answer.status_code = status
    reasons = list(filter(None, map(find_reason_unchecked, intent.constraints)))
    if reasons:
        kind = DiagnosticType.UNKNOWN_CONSTRAINT_TYPE
        warnings = [Diagnostic(kind, reason, intent.intent_id, "constraints") for reason in reasons]
        answer.data["warnings"] = [warning.to_json() for warning in warnings]
    return answer


def _parse_body(
    serializer_class: type[schema.Body], data: Any, ignored: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return the valid body by document names, with the fields of `extra` next to the others.

    Raises `ApiError` for unknown names, a DRF ValidationError for values of another type.
    """
    if not isinstance(data, Mapping):
        raise ApiError(400, "INVALID_INPUT", "The body must be a JSON object.")
    fields = {name: value for name, value in data.items() if name not in ignored}
    serializer = serializer_class(data=fields)
    unknown = sorted(set(fields) - set(serializer.fields))
    if unknown:
        message = f"Unknown fields: {', '.join(unknown)}. Fields of your own belong under extra."
        raise ApiError(400, "INVALID_FIELD", message)
    serializer.is_valid(raise_exception=True)
    document = dict(serializer.validated_data)
    return {**document.pop("extra", {}), **document}


def _read_version(request: Request, body_version: int | None) -> int | None:
    """Return the version that the caller read, from `If-Match` or the body; None for `If-Match: *`.

    Raises `ApiError` 412 where neither says one.
    """
    header = request.headers.get("If-Match", "").strip()
    if header == "*":  # RFC 9110 13.1.1: whatever the current version is
        return None
    tag = header.removeprefix("W/").strip('"')
    if tag.isascii() and tag.isdigit():
        return int(tag)
    if header or body_version is None:
        message = 'Say which version you saw: If-Match: "3", or version in the body.'
        raise ApiError(412, "VERSION_REQUIRED", message)
    return body_version
