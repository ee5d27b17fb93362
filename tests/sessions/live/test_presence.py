"""Who has which card open, from socket to socket, with the channel layer that is configured."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from django.db import connections

from controlplane.models import Membership, Role
from sessions.live import presence
from sessions.live.hub import stop_hub
from sessions.live.presence import Presence, Viewer
from sessions.live.routing import websocket_urlpatterns
from tests import builders

CARD = "0199f3c2aaaa"
SOON = 3  # seconds


class Page:
    """A page of somebody who is signed in."""

    def __init__(self, user, slug):
        cookies = {"sessionid": builders.signed_in(user).cookies["sessionid"].value}
        headers = [(b"host", b"test"), (b"origin", b"http://test")]
        scope = {"type": "websocket", "path": f"/ws/workspaces/{slug}/", "query_string": b""}
        scope |= {"headers": headers, "cookies": cookies, "subprotocols": []}
        self.socket = ApplicationCommunicator(URLRouter(websocket_urlpatterns), scope)

    async def open(self):
        await self.socket.send_input({"type": "websocket.connect"})
        assert (await self.socket.receive_output(SOON))["type"] == "websocket.accept"
        assert (await self._received())["type"] == "hello"
        return self

    async def close(self):
        await self.socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.socket.wait(SOON)

    async def say(self, text):
        await self.socket.send_input({"type": "websocket.receive", "text": text})

    async def show(self, card):
        await self.say(json.dumps({"reviewing": card}))

    async def told(self):
        message = await self._received()
        assert message["type"] == "approval.reviewing"
        return message["data"]["name"], message["data"]["approval_id"]

    async def is_told_nothing(self):
        return await self.socket.receive_nothing(presence.PAUSE_SECONDS + 0.3)

    async def _received(self):
        return json.loads((await self.socket.receive_output(SOON))["text"])


@pytest.fixture
async def open_page():
    """Pages that are closed afterwards, with the hub of this loop."""
    pages = []

    async def open_for(user, slug="acme"):
        page = await (await sync_to_async(Page)(user, slug)).open()
        pages.append(page)
        return page

    yield open_for
    for page in pages:
        await page.close()
    await stop_hub()
    await database_sync_to_async(connections.close_all)()  # of this loop's thread: nobody else would


@pytest.fixture
def uma(acme):
    return builders.person("uma", acme, Role.REVIEWER)


@pytest.mark.django_db(transaction=True)
async def test_others_are_told_who_opens_a_card_and_who_leaves_it(open_page, rex, uma):
    rexs, umas = await open_page(rex), await open_page(uma)
    await rexs.show(CARD)
    assert await umas.told() == ("Rex", CARD)
    await rexs.show("")
    assert await umas.told() == ("Rex", "")
    await rexs.show(CARD)
    assert await umas.told() == ("Rex", CARD)
    await rexs.close()
    assert await umas.told() == ("Rex", "")


@pytest.mark.django_db(transaction=True)
async def test_whoever_comes_later_is_told_and_nobody_hears_of_themselves(open_page, rex, uma):
    rexs = await open_page(rex)
    await rexs.show(CARD)
    assert await rexs.is_told_nothing()
    umas, second = await open_page(uma), await open_page(rex)
    assert await umas.told() == ("Rex", CARD)
    assert await second.is_told_nothing()


@pytest.mark.django_db(transaction=True)
async def test_an_auditor_sees_and_does_not_review_and_a_stranger_hears_nothing(open_page, rex, ivy, max_):
    rexs, ivys, maxs = await open_page(rex), await open_page(ivy), await open_page(max_, "elsewhere")
    await ivys.show(CARD)
    assert await rexs.is_told_nothing()
    await rexs.show(CARD)
    assert await ivys.told() == ("Rex", CARD)
    assert await maxs.is_told_nothing()


@pytest.mark.django_db(transaction=True)
async def test_what_a_page_should_not_say_is_ignored_and_the_socket_lives(open_page, rex, uma):
    rexs, umas = await open_page(rex), await open_page(uma)
    for text in ("", "{", "[1]", "7", '{"reviewing": 7}', '{"reviewing": "<b>"}', '{"x": 1}',
                 json.dumps({"reviewing": "a" * 65}), json.dumps({"reviewing": "a", "pad": "x" * 300})):  # fmt: skip
        await rexs.say(text)
    await rexs.socket.send_input({"type": "websocket.receive", "bytes": b"\x00"})
    assert await umas.is_told_nothing()
    await rexs.show(CARD)
    assert await umas.told() == ("Rex", CARD)


@pytest.mark.django_db(transaction=True)
async def test_whoever_leafs_through_cards_tells_where_they_stopped(open_page, rex, uma):
    rexs, umas = await open_page(rex), await open_page(uma)
    for number in range(50):
        await rexs.show(f"card-{number}")
    heard = [await umas.told()]
    while heard[-1][1] != "card-49":
        heard.append(await umas.told())
    assert len(heard) <= 3
    assert await umas.is_told_nothing()


@pytest.mark.django_db(transaction=True)
async def test_who_may_no_longer_decide_no_longer_reviews(open_page, rex, uma, monkeypatch):
    monkeypatch.setattr("sessions.live.consumers.RECHECK_SECONDS", 0.1)
    rexs, umas = await open_page(rex), await open_page(uma)
    await Membership.objects.filter(user=rex).aupdate(role=Role.AUDITOR)
    await asyncio.sleep(0.5)
    await rexs.show(CARD)
    assert await umas.is_told_nothing()


class Broken:
    """A layer whose server is away."""

    async def _fail(self, *_):
        raise OSError("no server")

    group_add = group_send = group_discard = _fail


async def test_a_layer_that_fails_costs_presence_alone(caplog):
    with caplog.at_level(logging.WARNING, presence.__name__):
        rexs = Presence(Broken(), "channel", 1, Viewer(1, "Rex", may_decide=True))
        await rexs.join()
        rexs.receive(json.dumps({"reviewing": CARD}))
        task = asyncio.create_task(rexs.announce_when_due())
        await asyncio.sleep(0.05)
        assert not task.done()
        task.cancel()
        await rexs.leave()
    assert "presence could not be sent" in caplog.text


async def test_the_layer_is_told_no_more_than_it_needs():
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add("presence.77", channel)
    rexs = Presence(layer, await layer.new_channel(), 77, Viewer(5, "Rex", may_decide=True))
    rexs.receive(json.dumps({"reviewing": CARD}))
    task = asyncio.create_task(rexs.announce_when_due())
    message = await asyncio.wait_for(layer.receive(channel), SOON)
    task.cancel()
    assert set(message) <= {"type", "who", "user_id", "name", "approval_id", "__asgi_channel__"}


async def test_a_new_socket_asks_those_alone_that_show_a_card():
    layer = get_channel_layer()
    channels = [await layer.new_channel() for _ in range(3)]
    shows, shows_nothing, comes_later = (
        Presence(layer, channel, 78, Viewer(number, "Rex", may_decide=True))
        for number, channel in enumerate(channels)
    )
    await shows_nothing.join()
    await shows.join()
    shows.receive(json.dumps({"reviewing": CARD}))
    task = asyncio.create_task(shows.announce_when_due())
    for channel in channels[:2]:
        assert (await asyncio.wait_for(layer.receive(channel), SOON))["type"] == presence.SEEN
    await comes_later.join()
    assert (await asyncio.wait_for(layer.receive(channels[0]), SOON))["type"] == presence.ASKED
    task.cancel()
    await shows.leave()
    assert (await asyncio.wait_for(layer.receive(channels[1]), SOON))["type"] == presence.SEEN, (
        "it was not asked"
    )
