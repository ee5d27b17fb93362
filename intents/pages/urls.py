from django.urls import path

from intents.pages import views

app_name = "intents"
urlpatterns = [
    path("", views.intent_list, name="list"),
    path("new/", views.intent_new, name="new"),
    path("import/", views.intent_import, name="import"),
    path("export/", views.intent_export, name="export"),
    path("<path:intent_id>/edit/", views.intent_edit, name="edit"),
    path("<path:intent_id>/scope-preview/", views.scope_preview, name="scope-preview"),
    path("<path:intent_id>/", views.intent_detail, name="detail"),  # ids of real files hold any character
]
