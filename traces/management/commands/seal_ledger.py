"""Seal unsealed entries, update the counts and the search index, once or until stopped."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand

from traces.counts.counters import count_sealed
from traces.ledger.new_leaves import LeafFollower
from traces.ledger.sealing import Sealer
from traces.search_index.indexer import index_sealed


class Command(BaseCommand):
    help = "Give unsealed entries their positions in the tree and sign the new heads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--loop", action="store_true", help="run until SIGTERM or SIGINT")
        parser.add_argument(
            "--every", type=float, default=1.0, help="seconds between two rounds (with --loop)"
        )

    def handle(self, *, loop: bool, every: float, **_: Any) -> None:
        sealer = Sealer()
        followers = [LeafFollower(count_sealed), LeafFollower(index_sealed)]
        if not loop:
            self.stdout.write(f"sealed {sealer.run_once()} entries")
            for follower in followers:
                follower.run_once()
            return
        stop = threading.Event()

        def end(_signal: int, _frame: FrameType | None) -> None:
            stop.set()

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        threads = [threading.Thread(target=follower.run, args=(stop, every)) for follower in followers]
        for thread in threads:
            thread.start()
        sealer.run(stop, every)
        for thread in threads:
            thread.join()
