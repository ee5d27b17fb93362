from django.urls import path

from intents.pages import import_export, views

app_name = "intents"
urlpatterns = [
    path("", views.intent_list, name="list"),
    path("new/", views.intent_new, name="new"),
    path("import/", import_export.intent_import, name="import"),
    path("export/", import_export.intent_export, name="export"),
    path("<path:intent_id>/edit/", views.intent_edit, name="edit"),
    path("<path:intent_id>/move/", views.intent_move, name="move"),
    path("<path:intent_id>/scope/", views.intent_scope, name="scope"),
    path("<path:intent_id>/scope-preview/", views.scope_preview, name="scope-preview"),
    path("<path:intent_id>/", views.intent_detail, name="detail"),  # ids of real files hold any character
]
