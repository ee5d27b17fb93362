from django.urls import path

from traces.blame import api as blame_api
from traces.entries import api as entries_api
from traces.ledger import api as ledger_api
from traces.lessons import api as lessons_api

urlpatterns = [
    path("traces", entries_api.TracesView.as_view()),
    path("traces/import", entries_api.ImportView.as_view()),
    path("traces/export", entries_api.ExportView.as_view()),
    path("intent-map", entries_api.IntentMapView.as_view()),
    path("files/blame", blame_api.BlameView.as_view()),
    path("lessons", lessons_api.LessonsView.as_view()),
    path("lessons/<str:lesson_id>/retire", lessons_api.RetireView.as_view()),
    path("lessons/<str:lesson_id>/restore", lessons_api.RestoreView.as_view()),
    path("ledger", ledger_api.LedgerView.as_view()),
    path("ledger/verify", ledger_api.VerifyView.as_view()),
    path("ledger/entries/<path:entry_id>/redact", ledger_api.RedactView.as_view()),
    path("ledger/checkpoint", ledger_api.CheckpointView.as_view()),
    path("ledger/proof/inclusion", ledger_api.InclusionView.as_view()),
    path("ledger/proof/consistency", ledger_api.ConsistencyView.as_view()),
]
