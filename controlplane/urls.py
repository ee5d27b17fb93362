"""All routes. `/api/v1/` and `/hooks/` speak tokens, everything else speaks signed-in people."""

from django.contrib import admin
from django.urls import include, path

from controlplane import account, client_api, health
from controlplane.api import docs
from sessions.hooks_api import HookView

handler404 = "controlplane.api.errors.not_found"

urlpatterns = [
    path("api/v1/", include("sessions.api_urls")),  # the gate's first: it is asked before every tool use
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("client/icp.py", client_api.client_program, name="hook-client"),
    path("client/icp_sdk.py", client_api.sdk_module, name="sdk"),
    path("api/v1/", include("intents.api_urls")),
    path("api/v1/", include("traces.api_urls")),
    path("api/v1/schema", docs.SchemaView.as_view(), name="schema"),
    path("api/v1/docs", docs.docs, name="api-docs"),
    path("hooks/<agent>/<event>", HookView.as_view(), name="hook"),
    path("login/", account.SignIn.as_view(), name="login"),
    path("logout/", account.SignOut.as_view(), name="logout"),
    path("theme/", account.set_theme, name="theme"),
    path("admin/", admin.site.urls),
    path("", include("controlplane.page_urls")),
]
