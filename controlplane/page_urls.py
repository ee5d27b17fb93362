"""Pages. Everything of a workspace lives below `/w/<slug>/`."""

from django.urls import include, path

from controlplane import account, connect_page, overview, styleguide
from sessions.explaining import pages as explain_pages

urlpatterns = [
    path("", account.home, name="home"),
    path("styleguide", styleguide.styleguide, name="styleguide"),
    path(
        "w/<slug:slug>/",
        include(
            [
                path("", overview.overview, name="overview"),
                path("approvals/", include("sessions.approvals.urls")),
                path("sessions/", include("sessions.urls")),
                path("explain/", explain_pages.explain, name="explain"),
                path("explain/preview/", explain_pages.preview, name="explain-preview"),
                path("connect/", connect_page.connect, name="connect"),
                path("intents/", include("intents.urls")),
                path("traces/", include("traces.urls")),
                path("lessons/", include("intents.lesson_urls")),
                path("settings/", include("controlplane.settings_urls")),
            ]
        ),
    ),
]
