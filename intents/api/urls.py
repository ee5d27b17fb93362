from django.urls import path

from intents.api import intents, policy, sync

urlpatterns = [
    path("intents", intents.IntentsView.as_view()),
    path("intents/validate", intents.ValidateView.as_view()),
    path("intents/import", intents.ImportView.as_view()),
    path("intents/export", intents.ExportView.as_view()),
    path("intents/sync", sync.SyncView.as_view()),
    path("intents/<path:intent_id>", intents.IntentView.as_view()),  # ids of real files hold any character
    path("intentignore", intents.IgnoreView.as_view()),
    path("policy", policy.PolicyView.as_view()),
]
