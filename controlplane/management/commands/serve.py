from __future__ import annotations

import socket
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from controlplane.server.front.protocol import ImpatientProtocol
from sessions.live.hub import release_waiting_calls

GRACE_SECONDS = 2  # SIGTERM ends cleanly within five seconds


class GracefulServer(uvicorn.Server):
    """Answer held calls before closing their connections."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await release_waiting_calls()
        await super().shutdown(sockets)


class Command(BaseCommand):
    help = "Serve REST, pages and sockets in one process, with the background loops."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="The address to bind to.")
        parser.add_argument("--port", type=int, default=settings.ICP_PORT, help="Default: ICP_PORT or 8000.")

    def handle(self, *args: Any, **options: Any) -> None:
        config = uvicorn.Config(
            "controlplane.asgi:application",
            host=options["host"],
            port=options["port"],
            loop="uvloop",
            http=ImpatientProtocol,
            ws="websockets-sansio",
            lifespan="on",
            timeout_graceful_shutdown=GRACE_SECONDS,
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            ws_max_size=64 * 1024,
        )
        GracefulServer(config).run()
