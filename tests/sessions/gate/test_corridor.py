"""The way of a gate request through the code, held against docs/dev/gate-request.md."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Self

import pytest
from django.db import connection

from tests import builders

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "dev" / "gate-request.md"
MAX_ROOMS = 9


def documented_rooms() -> list[str]:
    return re.findall(r"^\d+\. `([^`]+)`", DOCUMENT.read_text(), re.MULTILINE)


class Tracer:
    """Note each call from one documented file into another, and each entry from outside of them."""

    def __init__(self, rooms: list[str]) -> None:
        self.rooms = {str(ROOT / room): room for room in rooms}
        self.entries: list[str] = []
        self.entered: set[FrameType] = set()  # a generator that goes on after a step is not entered again

    def __enter__(self) -> Self:
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or frame.f_code.co_filename not in self.rooms:
            return
        if frame in self.entered:
            return
        self.entered.add(frame)
        room = self.rooms[frame.f_code.co_filename]
        if self.caller_room(frame) != room:
            self.entries.append(room)

    def caller_room(self, frame: FrameType) -> str | None:
        """The nearest documented file below a frame: helpers in between, and Django, are no rooms."""
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename not in self.rooms:
            caller = caller.f_back
        return self.rooms[caller.f_code.co_filename] if caller else None


@pytest.mark.django_db
def test_a_request_walks_the_documented_files_in_order_and_none_twice(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    agent.gate("Write", file_path="src/auth/a.ts", content="x")  # fills the caches
    with Tracer(documented_rooms()) as tracer:
        agent.gate("Write", file_path="src/auth/b.ts", content="y")
    view, *rooms = dict.fromkeys(tracer.entries)
    # PostgreSQL records a decision without consequences in one statement, so nothing follows up on it.
    skipped = {"sessions/gate/follow_up.py"} if connection.vendor == "postgresql" else set()
    assert [view, *rooms] == [room for room in documented_rooms() if room not in skipped]
    # The view is entered by Django for each of its hooks; after it, a file is entered once, by its predecessors.
    entered = [room for room in tracer.entries if room != view]
    collapsed = entered[:1] + [after for before, after in pairwise(entered) if after != before]
    assert collapsed == rooms


def test_the_corridor_is_short():
    rooms = documented_rooms()
    assert len(rooms) <= MAX_ROOMS
    assert [room for room in rooms if not (ROOT / room).is_file()] == []
