"""Queue work fairly: by workspace, then by token, each charged for the processor time that its work took.

Start-time fair queueing (Goyal, Vin, Cheng 1996): a flow's clock moves on by what its work costs, and the
flow whose clock stands lowest is served next. So a workspace that sends dear calls waits for itself, the
others do not wait for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

FIRST_PRICE = 0.001  # seconds of processor time that a call of an unknown token is expected to cost
WEIGHT_OF_NEWEST = 0.2
MAX_IDLE_FLOWS = 10_000

J = TypeVar("J")


@dataclass(frozen=True, slots=True)
class Payer:
    """Who pays for a piece of work."""

    workspace: Hashable
    token: Hashable


@dataclass(slots=True)
class Flow(Generic[J]):
    """The waiting work of one token, with its clock and the usual price of its calls, in seconds."""

    clock: float = 0.0
    price: float = FIRST_PRICE
    jobs: deque[tuple[Payer, J]] = field(default_factory=deque)


@dataclass(slots=True)
class Group(Generic[J]):
    """The tokens of one workspace that have work waiting."""

    clock: float = 0.0
    running: int = 0
    flows: dict[Hashable, Flow[J]] = field(default_factory=dict)


class FairQueue(Generic[J]):
    """Thread-safe. `max_running` bounds how many threads work for one workspace at a time."""

    def __init__(self, *, max_running: int = 1_000_000) -> None:
        self._changed = threading.Condition()
        self._max_running = max_running
        self._groups: dict[Hashable, Group[J]] = {}  # with waiting work
        self._idle: OrderedDict[Hashable, Group[J] | Flow[J]] = OrderedDict()
        self._clock = 0.0
        self._closed = False
        self.size = 0

    def put(self, caller: Payer, job: J) -> None:
        with self._changed:
            group = self._groups.get(caller.workspace)
            if group is None:
                group = self._groups[caller.workspace] = self._wake_group(caller.workspace)
            flow = group.flows.get(caller.token)
            if flow is None:
                flow = group.flows[caller.token] = self._wake_flow(caller)
                flow.clock = max(flow.clock, min(_clocks(group.flows.values()), default=0.0))
            flow.jobs.append((caller, job))
            self.size += 1
            self._changed.notify()

    def take(self, timeout: float | None = None) -> tuple[Payer, J] | None:
        """Return the next job; None when none came in time, or when the queue was closed."""
        with self._changed:
            group = self._find_next()
            if group is None and timeout != 0:
                self._changed.wait_for(lambda: self._closed or self._find_next() is not None, timeout)
                group = self._find_next()
            if group is None or self._closed:
                return None
            return self._pop(group)

    def give_back(self, caller: Payer, seconds: float) -> None:
        """Note that a job has ended, after so many seconds of processor time."""
        with self._changed:
            group = self._groups.get(caller.workspace) or self._idle.get(caller.workspace)
            if not isinstance(group, Group):
                return
            group.running = max(0, group.running - 1)
            flow = group.flows.get(caller.token) or self._idle.get((caller.workspace, caller.token))
            if isinstance(flow, Flow):
                correction = seconds - flow.price  # the price was charged when the job was taken
                flow.clock += correction
                group.clock += correction
                flow.price += WEIGHT_OF_NEWEST * correction
            self._changed.notify()

    def learn(self, caller: Payer, seconds: float) -> None:
        """Note what a call of this token cost that another queue served."""
        with self._changed:
            flow = self._find_flow(caller)
            if flow is not None:
                flow.price += WEIGHT_OF_NEWEST * (seconds - flow.price)

    def price(self, caller: Payer) -> float:
        """Return what a call of this token usually costs, in seconds of processor time."""
        with self._changed:
            flow = self._find_flow(caller)
            return flow.price if flow is not None else FIRST_PRICE

    def estimate_wait(self, caller: Payer) -> float:
        """Return how many seconds of processor time will pass before a new job of this token is begun."""
        with self._changed:
            flow = self._find_flow(caller)
            return len(flow.jobs) * flow.price * len(self._groups) if flow is not None else 0.0

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _find_next(self) -> Group[J] | None:
        ready = (group for group in self._groups.values() if group.running < self._max_running)
        return min(ready, key=lambda group: group.clock, default=None)

    def _pop(self, group: Group[J]) -> tuple[Payer, J]:
        flow = min(group.flows.values(), key=lambda candidate: candidate.clock)
        caller, job = flow.jobs.popleft()
        self.size -= 1
        self._clock = group.clock
        group.running += 1
        group.clock += flow.price
        flow.clock += flow.price
        if not flow.jobs:
            del group.flows[caller.token]
            self._rest((caller.workspace, caller.token), flow)
        if not group.flows:
            del self._groups[caller.workspace]
            self._rest(caller.workspace, group)
        return caller, job

    def _rest(self, key: Hashable, idle: Group[J] | Flow[J]) -> None:
        self._idle[key] = idle
        self._idle.move_to_end(key)
        while len(self._idle) > MAX_IDLE_FLOWS:
            self._idle.popitem(last=False)

    def _wake_group(self, workspace: Hashable) -> Group[J]:
        """Return the workspace's group. Time that it did not use is gone: it saves up no credit."""
        group = self._idle.pop(workspace, None)
        woken = group if isinstance(group, Group) else Group()
        woken.clock = max(woken.clock, self._clock)
        return woken

    def _wake_flow(self, caller: Payer) -> Flow[J]:
        flow = self._idle.pop((caller.workspace, caller.token), None)
        return flow if isinstance(flow, Flow) else Flow()

    def _find_flow(self, caller: Payer) -> Flow[J] | None:
        group = self._groups.get(caller.workspace)
        flow = group.flows.get(caller.token) if group is not None else None
        flow = flow or self._idle.get((caller.workspace, caller.token))  # type: ignore[assignment]
        return flow if isinstance(flow, Flow) else None


def _clocks(flows: Iterable[Flow[J]]) -> Iterable[float]:
    return (flow.clock for flow in flows if flow.jobs)
