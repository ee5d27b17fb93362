"""Share who has which card open between sockets, over the channel layer; nothing is stored.

A visible page announces its card every twenty seconds, and other pages forget it after a minute of silence. A
new socket asks those that show a card to announce it: after a restart all pages come back at once, and asking
each of them would take the square of their number.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.models import Membership, Role
from controlplane.shared.access import display_name, has_role

log = logging.getLogger(__name__)

TYPE = "approval.reviewing"
SEEN, ASKED = "presence.seen", "presence.asked"  # of the channel layer: consumers have a method for each
MAX_MESSAGE_LENGTH = 200
PAUSE_SECONDS = 0.5  # whoever leafs through cards tells where they stopped
_APPROVAL = re.compile(r"[A-Za-z0-9_-]{0,64}")


@dataclass(frozen=True, slots=True)
class Viewer:
    """The member behind a socket. Only somebody who may decide on a card is its reviewer."""

    user_id: int
    name: str
    may_decide: bool


def viewer_from(membership: Membership) -> Viewer:
    user = membership.user
    return Viewer(user.pk, display_name(user), may_decide=has_role(membership.role, Role.REVIEWER))


class Presence:
    """The presence of one socket. A failing channel layer costs presence only, never the socket."""

    def __init__(self, layer: Any, channel: str, workspace_id: int, viewer: Viewer) -> None:
        self.person = viewer
        self._layer, self._channel, self._group = layer, channel, f"presence.{workspace_id}"
        self._showing = f"{self._group}.showing"  # those that have a card open, which alone are asked
        self._card = ""
        self._due = asyncio.Event()

    async def join(self) -> None:
        await self._ignore_failure(self._layer.group_add(self._group, self._channel))
        await self._send({"type": ASKED}, self._showing)

    async def leave(self) -> None:
        if self._card:
            self._card = ""
            await self._announce()
        await self._ignore_failure(self._layer.group_discard(self._group, self._channel))

    def receive(self, text: str | None) -> None:
        """`{"reviewing": approval id}` from the page, "" for none; anything else is ignored."""
        card = _parse_card(text)
        if card is not None and self.person.may_decide:
            self._card = card
            self._due.set()

    def announce_again(self) -> None:
        if self._card:
            self._due.set()

    async def announce_when_due(self) -> None:
        """Announce changes while the socket is open, at most once a pause whatever the page sends."""
        while True:
            await self._due.wait()
            self._due.clear()
            await self._announce()
            await asyncio.sleep(PAUSE_SECONDS)

    def to_message(self, event: Mapping[str, Any]) -> dict[str, Any] | None:
        """Build the message for the page; None for pages of the same person."""
        if event["user_id"] == self.person.user_id:
            return None
        fields = {name: event[name] for name in ("who", "name", "approval_id")}
        return {"type": TYPE, "data": fields}

    async def _announce(self) -> None:
        sender = {"who": self._channel, "user_id": self.person.user_id, "name": self.person.name}
        change = self._layer.group_add if self._card else self._layer.group_discard
        await self._ignore_failure(change(self._showing, self._channel))
        await self._send({"type": SEEN, **sender, "approval_id": self._card}, self._group)

    async def _send(self, message: dict[str, Any], group: str) -> None:
        await self._ignore_failure(self._layer.group_send(group, message))

    async def _ignore_failure(self, step: Any) -> None:
        try:
            await step
        except Exception:
            log.warning("presence could not be sent", exc_info=True)


def _parse_card(text: str | None) -> str | None:
    if text is None or len(text) > MAX_MESSAGE_LENGTH:
        return None
    try:
        message = json.loads(text)
    except ValueError:
        return None
    card = message.get("reviewing") if isinstance(message, dict) else None
    return card if isinstance(card, str) and _APPROVAL.fullmatch(card) else None
