"""Pages. Everything of a workspace lives below `/w/<slug>/`."""

from django.urls import include, path

from controlplane.pages import overview, sign_in, styleguide
from controlplane.pages.connect import page
from controlplane.pages.palette.page import palette
from controlplane.pages.setup.page import setup
from sessions.explain import pages as explain_pages

urlpatterns = [
    path("", sign_in.home, name="home"),
    path("setup/", setup, name="setup"),
    path("styleguide", styleguide.styleguide, name="styleguide"),
    path(
        "w/<slug:slug>/",
        include(
            [
                path("", overview.overview, name="overview"),
                path("go/", palette, name="palette"),
                path("approvals/", include("sessions.approvals.urls")),
                path("interruptions/", include("sessions.interruptions.urls")),
                path("sessions/", include("sessions.pages.urls")),
                path("stops/", include("sessions.stops.urls")),
                path("explain/", explain_pages.explain, name="explain"),
                path("explain/preview/", explain_pages.preview, name="explain-preview"),
                path("connect/", page.connect, name="connect"),
                path("intents/", include("intents.pages.urls")),
                path("traces/", include("traces.urls")),
                path("lessons/", include("intents.lessons.urls")),
                path("settings/", include("controlplane.pages.settings.urls")),
            ]
        ),
    ),
]
