"""The OpenAPI document and a page to browse it; public, because they contain no data."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularAPIView
from rest_framework.negotiation import DefaultContentNegotiation


class SchemaView(SpectacularAPIView):
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    content_negotiation_class = DefaultContentNegotiation  # YAML or JSON


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "api_docs.html")
