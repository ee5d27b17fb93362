"""Liveness, readiness and metrics."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from controlplane.shared.metrics import CONTENT_TYPE, render_metrics


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer while the process lives. Ignores the database, so that an outage of it restarts no process."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if the database responds and is migrated, else 503."""
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
    """Expose this process's metrics in Prometheus' text format. No metric names a workspace."""
    return HttpResponse(render_metrics(), content_type=CONTENT_TYPE)
