"""One process for everything: the gate in its lanes, views on threads, sockets and held calls on the loop."""

from __future__ import annotations

import os
from typing import Any, cast

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
django_application = get_wsgi_application()  # before anything that needs the app registry

from a2wsgi import WSGIMiddleware  # noqa: E402
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402

from controlplane.server.background import Lifespan  # noqa: E402
from controlplane.server.front.app import Front, Router  # noqa: E402
from controlplane.server.front.callers import Lookups  # noqa: E402
from controlplane.server.front.executor import FairExecutor  # noqa: E402
from controlplane.server.front.gate import GateApp  # noqa: E402
from sessions.live.hold_open import App, HoldMiddleware  # noqa: E402
from sessions.live.routing import websocket_urlpatterns  # noqa: E402
from sessions.mcp.http import McpMiddleware  # noqa: E402

WORKER_THREADS = 8
views = WSGIMiddleware(cast("Any", django_application), workers=1)
views.executor = FairExecutor(WORKER_THREADS)  # type: ignore[assignment]  # the same protocol, with fair queues
held = HoldMiddleware(Router(GateApp(), cast("App", views)))

application = Lifespan(
    Front(
        ProtocolTypeRouter(
            {
                "http": McpMiddleware(held),
                "websocket": AllowedHostsOriginValidator(
                    AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
                ),
            }
        ),
        Lookups(),
    )
)
