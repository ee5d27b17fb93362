"""The WebSocket of a workspace: push events to signed-in members, receive which card they have open."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Any
from urllib.parse import parse_qs, urlsplit

from channels.auth import get_user
from channels.consumer import get_handler_name
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore

from controlplane.models import Membership
from controlplane.shared.access import find_membership
from sessions.live.events import MAX_EVENTS, LiveEvent, list_events_since
from sessions.live.hub import hub
from sessions.live.presence import Presence, viewer_from

log = logging.getLogger(__name__)

RECHECK_SECONDS = 15
MAX_QUEUE = 1_000
MAX_VIEWS, MAX_VIEW_LENGTH = 4, 1_000
NOT_PERMITTED, TOO_SLOW = 4403, 4408


class WorkspaceConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """`/ws/workspaces/{slug}/?since=SEQ&show=VIEW`. First message: `{"type": "hello", "seq"}`.

    A page names each view that it shows, and gets approvals and what changes in these views, as HTML. A
    client without `show` gets every event.
    """

    workspace_id: int | None = None
    user_id: int | None = None
    views: frozenset[str] | None = None
    seq = 0  # of the newest event before the first that is pushed
    presence: Presence | None = None
    tasks: tuple[asyncio.Task[None], ...] = ()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Call the handler. What reads the database closes its connections itself.

        Channels would go through the one thread of all sockets for that, with each message of each of them.
        """
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        membership = await self._membership()
        if membership is None or not self._same_origin():
            log.warning("socket refused: %s", self.scope["path"])
            await self.close(code=NOT_PERMITTED)
            return
        self.workspace_id, self.user_id = membership.workspace_id, membership.user_id
        self.views = self._views()
        self.queue: asyncio.Queue[tuple[int, str]] = asyncio.Queue(MAX_QUEUE)
        self.sent: set[int] = set()
        await self.accept()
        self.seq = await hub().subscribe(
            membership.workspace_id, self._receive_events, self.views or frozenset()
        )
        await self.send_json({"type": "hello", "seq": self.seq})
        self.presence = Presence(
            self.channel_layer, self.channel_name, membership.workspace_id, viewer_from(membership)
        )
        work = (self._push(self._since()), self._recheck(), self.presence.announce_when_due())
        self.tasks = tuple(map(asyncio.create_task, work))
        await self.presence.join()

    async def disconnect(self, code: int) -> None:
        if self.workspace_id is not None:
            hub().unsubscribe(self.workspace_id, self._receive_events)
        for task in self.tasks:
            task.cancel()
        if self.presence is not None:
            await self.presence.leave()

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        """Take the card that the client shows and nothing else: writes go over HTTP with its checks."""
        if self.presence is not None:
            self.presence.receive(text_data)

    async def presence_seen(self, event: dict[str, Any]) -> None:
        """Handle a channel-layer message: somebody has a card open, or none."""
        message = self.presence.to_message(event) if self.presence else None
        if message is not None:
            await self.send_json(message)

    async def presence_asked(self, _event: dict[str, Any]) -> None:
        """Handle a channel-layer message: a new socket asks who has which card open."""
        if self.presence is not None:
            self.presence.announce_again()

    def _receive_events(self, events: list[LiveEvent]) -> None:
        for event in events:
            text = event.to_text(self.views, self.user_id)
            if not text:  # nothing of it is shown here: no task wakes up for it
                continue
            try:
                self.queue.put_nowait((event.seq, text))
            except asyncio.QueueFull:  # a client that does not read: it comes back and catches up
                asyncio.ensure_future(self.close(code=TOO_SLOW))  # noqa: RUF006  ends with the connection
                return

    async def _push(self, since: int | None) -> None:
        if since is not None:
            await self._catch_up(since)
        while True:
            await self._send(*await self.queue.get())

    async def _catch_up(self, since: int) -> None:
        assert self.workspace_id is not None
        while True:
            events = await database_sync_to_async(list_events_since)(self.workspace_id, since)
            if self.views is not None and len(events) == MAX_EVENTS:  # a page that was away for long
                await self.send_json({"type": "missed", "seq": self.seq, "drawn": False})
                return
            for event in events:
                await self._send(event.seq, event.to_text(self.views, self.user_id))
                since = event.seq
            if len(events) < MAX_EVENTS:
                return

    async def _send(self, seq: int, text: str) -> None:
        if seq in self.sent:
            return
        self.sent.add(seq)
        if len(self.sent) > 4 * MAX_QUEUE:
            self.sent = set(sorted(self.sent)[-MAX_QUEUE:])
        await self.send(text_data=text)

    async def _recheck(self) -> None:
        """Close the socket of somebody who signed out or was removed."""
        while True:
            # Spread: all sockets of a server that has just started would ask in the same moment.
            await asyncio.sleep(RECHECK_SECONDS * random.uniform(0.5, 1))  # noqa: S311  no secret
            membership = await self._membership()
            if membership is None:
                await self.close(code=NOT_PERMITTED)
                return
            if self.presence is not None:
                self.presence.person = viewer_from(membership)

    async def _membership(self) -> Membership | None:
        """Read the membership again each time: the session may have ended, the person may be removed."""
        session = SessionStore(self.scope["cookies"].get(settings.SESSION_COOKIE_NAME))
        user = await get_user({**self.scope, "session": session})
        slug: str = self.scope["url_route"]["kwargs"]["slug"]
        membership: Membership | None = await database_sync_to_async(find_membership)(user, slug)
        if membership is not None:
            membership.user = user  # read already
        return membership

    def _same_origin(self) -> bool:
        headers = dict(self.scope["headers"])
        origin = urlsplit(headers.get(b"origin", b"").decode("latin-1")).netloc
        return bool(origin) and origin == headers.get(b"host", b"").decode("latin-1")

    def _parameters(self, name: str) -> list[str]:
        query: str = self.scope["query_string"].decode("latin-1")
        return parse_qs(query, keep_blank_values=True).get(name, [])

    def _views(self) -> frozenset[str] | None:
        views = self._parameters("show")
        named = [view for view in views[:MAX_VIEWS] if view and len(view) <= MAX_VIEW_LENGTH]
        return frozenset(named) if views else None

    def _since(self) -> int | None:
        text = next(iter(self._parameters("since")), "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
