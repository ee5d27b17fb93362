from django.urls import path

from traces.api import blame, entries, evidence, intent_map, ledger, lessons, transfer

urlpatterns = [
    path("traces", entries.TracesView.as_view()),
    path("traces/import", transfer.TraceImportView.as_view()),
    path("traces/export", transfer.TraceExportView.as_view()),
    path("intent-map", intent_map.IntentMapView.as_view()),
    path("files/blame", blame.BlameView.as_view()),
    path("lessons", lessons.LessonsView.as_view()),
    path("lessons/<str:lesson_id>/retire", lessons.RetireView.as_view()),
    path("lessons/<str:lesson_id>/restore", lessons.RestoreView.as_view()),
    path("ledger", ledger.LedgerView.as_view()),
    path("ledger/verify", ledger.VerifyView.as_view()),
    path("ledger/entries/<path:entry_id>/redact", ledger.RedactView.as_view()),
    path("ledger/entries/<path:entry_id>/receipt", ledger.ReceiptView.as_view()),
    path("ledger/evidence", evidence.EvidenceView.as_view()),
    path("ledger/key-changes", evidence.KeyChangesView.as_view()),
    path("ledger/checkpoint", ledger.CheckpointView.as_view()),
    path("ledger/proof/inclusion", ledger.InclusionView.as_view()),
    path("ledger/proof/consistency", ledger.ConsistencyView.as_view()),
]
