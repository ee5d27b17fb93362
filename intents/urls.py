from django.urls import path

from intents import pages

app_name = "intents"
urlpatterns = [
    path("", pages.intent_list, name="list"),
    path("new/", pages.intent_new, name="new"),
    path("import/", pages.intent_import, name="import"),
    path("export/", pages.intent_export, name="export"),
    path("<path:intent_id>/edit/", pages.intent_edit, name="edit"),
    path("<path:intent_id>/scope-preview/", pages.scope_preview, name="scope-preview"),
    path("<path:intent_id>/", pages.intent_detail, name="detail"),  # ids of real files hold any character
]
