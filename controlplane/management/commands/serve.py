from __future__ import annotations

import socket
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from controlplane.server.front.protocol import ImpatientProtocol
from controlplane.shared.setup_token import find_setup_token
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
        self._show_setup_address(options)
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

    def _show_setup_address(self, options: dict[str, Any]) -> None:
        """Print the one address that an empty server can be set up with."""
        try:
            token = find_setup_token()
        except DatabaseError:  # the server starts without its database, and says so on /readyz
            return
        if token:
            here = f"http://{options['host']}:{options['port']}"
            base = settings.PUBLIC_URL if options["port"] == settings.ICP_PORT else here
            self.stdout.write(f"This server is empty. Set it up, once: {base}/setup/?token={token}")
            self.stdout.flush()
