"""REST for the map of files and intents, as JSON or as intent_map.md."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.raw_body import JSON_TYPE
from traces.api import schema
from traces.api.views import MARKDOWN, StreamView, choose_format, markdown_response
from traces.filemap.touches import build_map_sections
from traces.interchange.formats.intent_map import render_intent_map


class IntentMapView(StreamView):
    @extend_schema(
        operation_id="intent_map_get", summary="Which files each intent has evolved",
        description="`intent_map.md`, from mutations of class INTENT_EVOLUTION.",
        parameters=[schema.MAP_FORMAT],
        responses=schema.answers({(200, MARKDOWN): OpenApiTypes.STR, (200, JSON_TYPE): schema.MapAnswer}),
    )  # fmt: skip
    def get(self, request: Request) -> HttpResponse:
        sections = build_map_sections(self.bearer.workspace_id)
        if choose_format(request, "markdown") == "markdown":
            return markdown_response(render_intent_map(sections), "intent_map.md")
        intents = [
            {
                "intent_id": section.intent_id,
                "name": section.name,
                "files": list(section.paths),
                "symbols": {
                    path: [symbol._asdict() for symbol in symbols]
                    for path, symbols in section.symbols.items()
                },
            }
            for section in sections
        ]
        return Response({"intents": intents})
