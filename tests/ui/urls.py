"""Names of every page that templates link to, so that they can be drawn before and apart from the views."""

from django.http import HttpResponse
from django.urls import include, path

from controlplane.pages import styleguide


def nothing(request, **kwargs):
    return HttpResponse()


def group(name, **routes):
    """`detail="<id>/"` becomes the URL name `name:detail`."""
    return include(([path(route, nothing, name=key) for key, route in routes.items()], name))


urlpatterns = [
    path("login/", nothing, name="login"),
    path("logout/", nothing, name="logout"),
    path("theme/", nothing, name="theme"),
    path("setup/", nothing, name="setup"),
    path("styleguide", styleguide.styleguide, name="styleguide"),
    path("w/<slug:slug>/", nothing, name="overview"),
    path("w/<slug:slug>/connect/", nothing, name="connect"),
    path("w/<slug:slug>/explain/", nothing, name="explain"),
    path("w/<slug:slug>/explain/preview/", nothing, name="explain-preview"),
    path(
        "w/<slug:slug>/approvals/",
        group(
            "approvals",
            list="",
            card="<approval_id>/",
            decide="<approval_id>/decide/",
            extend="<approval_id>/extend/",
            history="history/",
            **{"history-export": "history/export/"},
        ),
    ),
    path(
        "w/<slug:slug>/interruptions/",
        group(
            "interruptions", **{"page": "", "make-rule": "rules/", "take-back": "rules/<rule_id>/take-back/"}
        ),
    ),
    path(
        "w/<slug:slug>/intents/",
        group(
            "intents",
            list="",
            **{"import": "import/"},
            export="export/",
            new="new/",
            detail="<intent_id>/",
            edit="<intent_id>/edit/",
            move="<intent_id>/move/",
            scope="<intent_id>/scope/",
        ),
    ),
    path("w/<slug:slug>/go/", nothing, name="palette"),
    path("w/<slug:slug>/stops/", group("stops", list="", set="set/", lift="<stop_id>/lift/")),
    path(
        "w/<slug:slug>/sessions/", group("sessions", list="", detail="<session_id>/", end="<session_id>/end/")
    ),
    path(
        "w/<slug:slug>/traces/",
        group(
            "traces",
            list="",
            export="export",
            proof="proof/<number>",
            verifier="verifier",
            ledger="ledger/",
            map="map/",
            file="file/<path:path>",
        ),
    ),
    path(
        "w/<slug:slug>/lessons/",
        group(
            "lessons",
            list="",
            add="add/",
            show="<lesson_id>/",
            retire="<lesson_id>/retire/",
            restore="<lesson_id>/restore/",
        ),
    ),
    path(
        "w/<slug:slug>/settings/",
        group(
            "settings",
            policy="policy/",
            starter="starter/",
            intentignore="intentignore/",
            members="members/",
            tokens="tokens/",
            outlets="outlets/",
            ledger="ledger/",
            **{"mcp-tools": "mcp-tools/"},
        ),
    ),
]
