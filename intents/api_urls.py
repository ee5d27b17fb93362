from django.urls import path

from intents import api, policy_api, sync_api

urlpatterns = [
    path("intents", api.IntentsView.as_view()),
    path("intents/validate", api.ValidateView.as_view()),
    path("intents/import", api.ImportView.as_view()),
    path("intents/export", api.ExportView.as_view()),
    path("intents/sync", sync_api.SyncView.as_view()),
    path("intents/<path:intent_id>", api.IntentView.as_view()),  # ids of real files hold any character
    path("intentignore", api.IgnoreView.as_view()),
    path("policy", policy_api.PolicyView.as_view()),
]
