"""Liveness, readiness and metrics."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from controlplane.shared.metrics import CONTENT_TYPE, render_metrics


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Says nothing about the database, so that a database outage restarts nobody."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database answers and knows every migration; 503 otherwise."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return JsonResponse({"status": "unavailable", "error": "The database does not answer."}, status=503)
    if missing:
        return JsonResponse(
            {"status": "unavailable", "error": "Migrations are missing: run migrate."}, status=503
        )
    return JsonResponse({"status": "ok"})


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """What this process counted, in Prometheus' text format. Numbers only: no workspace is named."""
    return HttpResponse(render_metrics(), content_type=CONTENT_TYPE)
