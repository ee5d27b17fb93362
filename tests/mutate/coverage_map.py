"""Map tests to the functions that they reach, with their time: one run without a mutant, cached by content."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterable
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.mutate import switch
from tests.mutate.fork import run_in_fork

CACHE = Path("made/learned.json")
# What every test may depend on, besides its own file.
SHARED = (
    "controlplane/policy/**/*.py",
    "tests/data/**/*.json",
    "tests/policy/**/*.json",
    "tests/policy/**/[!t]*.py",
)


class CallWatcher:
    """Record which functions that have mutants are called."""

    def start(self) -> None:
        self._seen: set[object] = set()
        sys.settrace(lambda frame, event, arg: self._seen.add(frame.f_code))

    def stop(self) -> set[str]:
        sys.settrace(None)
        names = switch.names_by_code()
        return {names[code] for code in self._seen if code in names}


def map_tests(items: list[pytest.Item]) -> dict[str, tuple[float, list[str]]]:
    """Return for each test, by its id: processor seconds, functions. Exit when a test fails."""
    shared = _hash_files(path for pattern in SHARED for path in sorted(Path().glob(pattern)))
    keys = {item.nodeid: f"{item.nodeid} {_hash_of_file(item.path)} {shared}" for item in items}
    known = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    new = [item for item in items if keys[item.nodeid] not in known]
    answer, status = run_in_fork(lambda: _run(new))
    if status != 0:
        pytest.exit(f"A test fails without any mutant. {answer}", returncode=1)
    known |= {keys[nodeid]: found for nodeid, found in answer.items()}
    CACHE.write_text(json.dumps({key: known[key] for key in keys.values()}))
    return {nodeid: known[key] for nodeid, key in keys.items()}


def _run(items: list[pytest.Item]) -> tuple[Any, int]:
    watch = CallWatcher()
    seen = {}
    for item, following in zip_longest(items, items[1:]):
        clear_caches()
        start = time.process_time()
        watch.start()
        reports = runtestprotocol(item, log=False, nextitem=following)
        functions = watch.stop()
        failed = [report.longreprtext for report in reports if report.failed]
        if failed:
            return [item.nodeid, *failed], 1
        seen[item.nodeid] = (time.process_time() - start, sorted(functions))
    return seen, 0


def clear_caches() -> None:
    """Clear the caches of the core: a test would not reach what an earlier one has cached."""
    for name, module in list(sys.modules.items()):
        if name.startswith("controlplane.policy"):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@cache
def _hash_of_file(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return _hash_files(
        [path, *(data for data in sorted(Path("tests/policy").rglob("*.json")) if data.name in text)]
    )


def _hash_files(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
