"""`POST /api/v1/gate` and the hooks before a tool, from the socket to the lane and back.

The same services answer as behind the views, with the same bodies. What the front refuses by itself it
refuses in the envelope of a denial, so that a client that reads no status fails closed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from urllib.parse import parse_qs

from django.conf import settings
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, Throttled

from controlplane.api.errors import describe_error
from controlplane.api.parsers import parse_json
from controlplane.api.throttling import BURST_SECONDS, request_buckets
from controlplane.server.front.fair_queue import Payer
from controlplane.server.front.lane import Job, Lane, Lanes
from controlplane.server.front.replies import CLOSE, RawReply, render_refused_call, to_json
from controlplane.shared.errors import UnavailableError
from controlplane.shared.metrics import GATE_WAITING, REFUSED
from controlplane.shared.tokens import Bearer
from sessions.adapters.hook_call import Event
from sessions.adapters.parse import event_name_in
from sessions.errors import GateInputError
from sessions.gate import api
from sessions.gate.answers import render_refusal
from sessions.gate.check import Steps
from sessions.gate.limits import MAX_BODY_BYTES, TOO_LONG
from sessions.live.hold_open import RESUMED_HEADER, Receive, Scope, Send
from sessions.rest import hooks

GATE_PATH = re.compile(r"/api/v1/gate/?\Z")
HOOK_PATH = re.compile(r"/hooks/(?P<agent>[^/]+)/(?P<event>[^/]+)\Z")
DEADLINE_SECONDS = 5.0  # from the complete body to the answer; then the front denies
CHEAP_BYTES = 16 * 1024  # bodies up to this may go to the fast lane
CHEAP_SECONDS = 0.003  # and calls of tokens whose calls usually cost no more processor time
MAX_WAITING = 2_000  # calls in both lanes
NO_TIME = "The control plane had no time to judge this call. Send it again shortly."
BODY_LATE = "The body of this call did not arrive in time. Send it again."

BEARER = "icp.bearer"  # in the scope: who was found before the body was read


@dataclass(frozen=True, slots=True)
class GateCall:
    """What a request asks of the gate: its own route, or the hook of a client before a tool."""

    hook: hooks.Hook | None = None
    wait_seconds: str | None = None

    def refuse(self, error: Exception, event_name: str | None = None) -> RawReply:
        """Answer an error as the view would."""
        if self.hook is not None:
            reply = describe_error(error)
            body = render_refusal(reply.error_type, reply.error, **reply.extra)
            denial = hooks.render_failure(self.hook, event_name, body["error_type"], body["error"])
            if denial is not None:
                return to_json(200, denial.body, {**denial.headers, **_retry_after(reply.headers)})
            return render_refused_call(reply)
        return render_refused_call(describe_error(error))

    def steps(self, bearer: Bearer, body: bytes, resumed: str) -> Steps[RawReply]:
        """Answer a body. Every error becomes a reply."""
        event_name = None
        try:
            data = parse_json(body)
            if self.hook is None:
                reply = yield from api.answer_steps(bearer, data, len(body), resumed)
            else:
                data = hooks.add_wait_seconds(data, self.wait_seconds)
                event_name = event_name_in(data)
                reply = yield from hooks.answer_steps(bearer, self.hook, data, len(body), resumed)
            return to_json(200, reply.body, reply.headers)
        except Exception as error:  # noqa: BLE001  anything that fails inside of the gate is a denial
            return self.refuse(error, event_name)


def find_gate_call(scope: Scope) -> GateCall | None:
    """Return what of the gate a request asks; None for all that the views answer."""
    if scope["method"] != "POST":
        return None
    path = scope["path"]
    if GATE_PATH.match(path):
        return GateCall()
    match = HOOK_PATH.match(path)
    if match is None:
        return None
    hook = hooks.Hook(match["agent"], match["event"])
    if hook.kind is not Event.PRE_TOOL:
        return None
    wait = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("wait_seconds")
    return GateCall(hook, wait[-1] if wait else None)


def admit(bearer: Bearer | None, headers: Mapping[str, str]) -> None:
    """Raise what DRF raises for a caller without a token, or with too many requests."""
    if bearer is None:
        if "authorization" not in headers:
            raise NotAuthenticated
        raise AuthenticationFailed("This token is unknown or was revoked.")
    rate = settings.RATE_PER_MINUTE / 60
    wait = rate and request_buckets.take(bearer.token_id, per_second=rate, burst=rate * BURST_SECONDS)
    if wait:
        raise Throttled(wait)


class GateApp:
    """Answers calls whose bearer was found and whose body is complete."""

    @cached_property
    def lanes(self) -> Lanes:
        """Threads that start with the first call, not with the import of the application."""
        lanes = Lanes()
        for name, lane in (("fast", lanes.fast), ("slow", lanes.slow)):
            GATE_WAITING.labels(name).set_function(partial(getattr, lane.queue, "size"))
        return lanes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gate_call = find_gate_call(scope)
        assert gate_call is not None  # the router asked before
        bearer: Bearer = scope[BEARER]
        body = await _join(receive)
        if len(body) > MAX_BODY_BYTES:
            await gate_call.refuse(GateInputError(TOO_LONG)).send_to(send)
            return
        resumed = next((value for name, value in reversed(scope["headers"]) if name == RESUMED_HEADER), b"")
        reply = await self.run(gate_call, bearer, body, resumed.decode("latin-1"))
        if reply is None:
            REFUSED.inc()
            reply = gate_call.refuse(UnavailableError(NO_TIME))
        await reply.send_to(send)

    async def run(self, gate_call: GateCall, bearer: Bearer, body: bytes, resumed: str) -> RawReply | None:
        """Return the reply; None when there is no time for one."""
        caller = Payer(bearer.workspace_id, bearer.token_id)
        lane = self._choose_lane(caller, len(body))
        waiting = self.lanes.fast.queue.size + self.lanes.slow.queue.size
        too_dear = lane.queue.estimate_wait(caller) > DEADLINE_SECONDS
        if too_dear or waiting >= MAX_WAITING or lane.is_stuck(DEADLINE_SECONDS):
            return None
        loop = asyncio.get_running_loop()
        future: asyncio.Future[RawReply | None] = loop.create_future()
        is_small = len(body) <= CHEAP_BYTES
        lane.submit(Job(caller, lambda: gate_call.steps(bearer, body, resumed), future, is_small=is_small))
        timer = loop.call_later(DEADLINE_SECONDS, _expire, future)
        try:
            return await future
        finally:
            timer.cancel()

    def _choose_lane(self, caller: Payer, size: int) -> Lane:
        cheap = size <= CHEAP_BYTES and self.lanes.fast.queue.price(caller) <= CHEAP_SECONDS
        return self.lanes.fast if cheap else self.lanes.slow

    def close(self) -> None:
        self.lanes.close()


def late_body(gate_call: GateCall, *, is_late: bool) -> RawReply:
    """Refuse a body that did not arrive in time, or that is much too long, and end its connection."""
    reply = gate_call.refuse(UnavailableError(BODY_LATE) if is_late else GateInputError(TOO_LONG))
    return RawReply(reply.status, reply.body, {**reply.headers, **CLOSE})


def _expire(future: asyncio.Future[RawReply | None]) -> None:
    if not future.done():
        future.set_result(None)


def _retry_after(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name == "Retry-After"}


async def _join(receive: Receive) -> bytes:
    chunks = []
    while True:
        message = await receive()
        chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(chunks)
