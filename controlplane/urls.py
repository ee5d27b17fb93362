"""All routes. `/api/v1/` and `/hooks/` authenticate tokens; pages authenticate signed-in users."""

from django.contrib import admin
from django.urls import include, path

from controlplane.api import docs
from controlplane.pages import sign_in
from controlplane.server import health
from controlplane.shared import client_download
from sessions.rest.hooks import HookView
from traces.pages import tlog

handler404 = "controlplane.api.errors.not_found"

urlpatterns = [
    path(
        "api/v1/", include("sessions.rest.urls")
    ),  # first, for the gate: agents ask it before every tool use
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("client/icp.py", client_download.client_program, name="hook-client"),
    path("client/icp_runs.py", client_download.runs_program, name="runs-client"),
    path("client/icp_landlock.py", client_download.landlock_program, name="landlock-client"),
    path("client/icp_sdk.py", client_download.sdk_module, name="sdk"),
    path("client/icp_sdk.ts", client_download.typescript_sdk, name="typescript-sdk"),
    path("api/v1/", include("intents.api.urls")),
    path("api/v1/", include("traces.api.urls")),
    path("api/v1/schema", docs.SchemaView.as_view(), name="schema"),
    path("api/v1/docs", docs.docs, name="api-docs"),
    path("hooks/<agent>/<event>", HookView.as_view(), name="hook"),
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("logout/", sign_in.SignOut.as_view(), name="logout"),
    path("theme/", sign_in.set_theme, name="theme"),
    path("admin/", admin.site.urls),
    path("<uuid:log>/checkpoint", tlog.checkpoint, name="tlog-checkpoint"),
    path("<uuid:log>/tile/<path:place>", tlog.tile, name="tlog-tile"),
    path("", include("controlplane.pages.urls")),
]
