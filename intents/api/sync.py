"""REST for the two-way sync of one file with the registry, which `icp.py sync` calls."""

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
        child=s.DictField(), required=False, help_text="The `base` of the previous answer; absent at first."
    )
    prefer = s.ChoiceField(choices=PREFERENCES, required=False, help_text="The side that wins conflicts.")
    dry_run = BoolField(required=False)


class ConflictAnswer(schema.Body):
    intent_id = StrField(allow_blank=True, help_text="Empty for metadata and unknown keys.")
    field = StrField(help_text="`*`: one side removed what the other changed.")
    base = s.JSONField(allow_null=True)
    registry = s.JSONField(allow_null=True)
    folder = s.JSONField(allow_null=True)


class SyncAnswer(schema.ReportAnswer):
    conflicts = ConflictAnswer(many=True)
    plan = s.DictField(help_text="Changes of the registry.")
    file = StrField(allow_null=True, help_text="The new text of the file; null leaves it as it is.")
    base = s.DictField(child=s.DictField(), help_text="Store it and send it with the next sync.")


class SyncView(WorkspaceView):
    required_role = "admin"

    @extend_schema(
        operation_id="intents_sync",
        summary="Sync a file and the registry both ways",
        description=(
            "A field that one side changed flows to the other. A field that both changed is a conflict: that "
            "intent stays as it is on both sides, unless `prefer` names the side that wins."
        ),
        request=SyncBody, responses=schema.responses_for(200, SyncAnswer, 415, refused=True),
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
