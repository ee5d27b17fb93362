"""`POST /api/v1/intents/sync`: one file and the registry, both ways, for `icp.py sync`."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.fields import BoolField, StrField
from controlplane.api.views import WorkspaceView
from intents.api import schema
from intents.errors import InvalidRegistryFileError
from intents.registry_file.three_way_merge import PREFERENCES
from intents.registry_file.two_way_sync import SyncRequest, sync_file


class SyncBody(schema.Body):
    file = StrField(
        allow_null=True, allow_blank=True, help_text="active_intents.yaml; null where there is none."
    )
    base = s.DictField(
        child=s.DictField(), required=False, help_text="The `base` of the answer before; absent at first."
    )
    prefer = s.ChoiceField(choices=PREFERENCES, required=False, help_text="The side that wins conflicts.")
    dry_run = BoolField(required=False)


class ConflictAnswer(schema.Body):
    intent_id = StrField(allow_blank=True, help_text="Empty for what stands beside the intents.")
    field = StrField(help_text="`*`: one side removed what the other changed.")
    base = s.JSONField(allow_null=True)
    registry = s.JSONField(allow_null=True)
    folder = s.JSONField(allow_null=True)


class SyncAnswer(schema.ReportAnswer):
    conflicts = ConflictAnswer(many=True)
    plan = s.DictField(help_text="What the registry is changed by.")
    file = StrField(allow_null=True, help_text="What the file is to be; null: as it is.")
    base = s.DictField(child=s.DictField(), help_text="To be kept, and sent with the next sync.")


class SyncView(WorkspaceView):
    required_role = "admin"

    @extend_schema(
        operation_id="intents_sync",
        summary="Bring a file and the registry together, both ways",
        description=(
            "What changed on one side only flows to the other, field by field. What changed on both is a "
            "conflict: that intent stays as it is on both sides, unless `prefer` says who wins."
        ),
        request=SyncBody, responses=schema.answers(200, SyncAnswer, 415, refused=True),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = SyncBody(data=request.data)
        body.is_valid(raise_exception=True)
        fields: dict[str, Any] = dict(body.validated_data)
        text = fields.pop("file")
        sync_request = SyncRequest(None if text is None else text.encode(), fields.pop("base", {}), **fields)
        result = sync_file(self.workspace, sync_request, actor=self.actor)
        if result.base is None:
            raise InvalidRegistryFileError(result.report)
        return Response(result.to_json())
