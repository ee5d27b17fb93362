"""Who has which card open: told from socket to socket over the channel layer, written nowhere.

A page that somebody looks at says so every twenty seconds; pages of others forget it after a minute without a
word. Whoever comes new asks, and those who have a card open say it again.
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
class Person:
    """The member behind a socket. Only who may decide on a card reviews it."""

    user_id: int
    name: str
    decides: bool


def person_of(membership: Membership) -> Person:
    user = membership.user
    return Person(user.pk, display_name(user), decides=has_role(membership.role, Role.REVIEWER))


class Presence:
    """One socket's part. A channel layer that fails costs presence alone, never the socket."""

    def __init__(self, layer: Any, channel: str, workspace_id: int, person: Person) -> None:
        self.person = person
        self._layer, self._channel, self._group = layer, channel, f"presence.{workspace_id}"
        self._card = ""
        self._due = asyncio.Event()

    async def join(self) -> None:
        await self._safely(self._layer.group_add(self._group, self._channel))
        await self._send({"type": ASKED})

    async def leave(self) -> None:
        if self._card:
            self._card = ""
            await self._tell()
        await self._safely(self._layer.group_discard(self._group, self._channel))

    def hear(self, text: str | None) -> None:
        """`{"reviewing": approval id}` from the page, "" for none; anything else is ignored."""
        card = _card_in(text)
        if card is not None and self.person.decides:
            self._card = card
            self._due.set()

    def asked(self) -> None:
        if self._card:
            self._due.set()

    async def tell_when_due(self) -> None:
        """For as long as the socket is open; at most one message a pause, whatever the page sends."""
        while True:
            await self._due.wait()
            self._due.clear()
            await self._tell()
            await asyncio.sleep(PAUSE_SECONDS)

    def message_of(self, event: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the page is told; None for the reader's own pages."""
        if event["user_id"] == self.person.user_id:
            return None
        named = {name: event[name] for name in ("who", "name", "approval_id")}
        return {"type": TYPE, "data": named}

    async def _tell(self) -> None:
        said = {"who": self._channel, "user_id": self.person.user_id, "name": self.person.name}
        await self._send({"type": SEEN, **said, "approval_id": self._card})

    async def _send(self, message: dict[str, Any]) -> None:
        await self._safely(self._layer.group_send(self._group, message))

    async def _safely(self, step: Any) -> None:
        try:
            await step
        except Exception:
            log.warning("nobody could be told who reviews what", exc_info=True)


def _card_in(text: str | None) -> str | None:
    if text is None or len(text) > MAX_MESSAGE_LENGTH:
        return None
    try:
        said = json.loads(text)
    except ValueError:
        return None
    card = said.get("reviewing") if isinstance(said, dict) else None
    return card if isinstance(card, str) and _APPROVAL.fullmatch(card) else None
