"""Judge the mutants named on standard input, inside the copy; write a JSON line for each to standard output.

`{"mutant", "fate", "by", "seconds"}`, where the fate is `killed` (`by` is the test that failed), `timeout` (a test took
ten times its time of the processor, and seconds more), `survived`, or `unreached` (no test calls the function).
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter, defaultdict, deque
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from pkgutil import walk_packages
from typing import TextIO

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from controlplane import policy
from tests.mutate import switch
from tests.mutate.coverage_map import CallWatcher, clear_caches, map_tests
from tests.mutate.fork import run_in_fork
from tests.mutate.sample import get_module

# Without the tests that run commands in a real bash: the examples with their verdicts fail sooner.
ARGUMENTS = (
    "tests/policy",
    "-m",
    "not deep",
    "--ignore=tests/policy/shell/test_against_shells.py",
    "--ignore=tests/policy/shell/test_against_strace.py",
    "--deselect=tests/policy/shell/test_examples.py::test_bash_changes_nothing_that_is_not_reported",
    "--hypothesis-profile=mutants",
    "--assert=plain",
    "--tb=native",
    "--capture=no",
)
# What runs on import makes tables, of which these hold the most.
TABLES = (
    "tests/policy/shell/test_examples.py",
    "tests/policy/calls/test_resolve_tool.py",
    "tests/policy/rules/test_constraints.py",
)
MAX_KILLERS = 12
MAX_EXAMPLES = 40  # examples of a property: a mutant that lives waits for all of them
QUICK_SECONDS = 0.02
TIMEOUT_FACTOR = 10
TIMEOUT_GRACE_SECONDS = 3.0
MAX_WALL_SECONDS = 1800
MAX_MEMORY = 3 << 30
# A mutant of what runs on import needs a process of its own, which may use so many seconds of the processor.
MAX_IMPORT_SECONDS = 240


class Judge:
    """Replace pytest's loop over the tests."""

    def __init__(self, mutants: list[str], on_import: set[str], out: TextIO) -> None:
        self.mutants = mutants
        self.on_import = on_import
        self.out = out
        self.reached: dict[str, set[int]] = defaultdict(set)
        self.seconds: list[float] = []
        self.killers: dict[str, deque[int]] = defaultdict(lambda: deque(maxlen=MAX_KILLERS))
        self.kills: Counter[int] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = session.items
        clear_caches()
        _shorten(self.items)
        for index, (seconds, functions) in enumerate(map_tests(self.items).values()):
            self.seconds.append(seconds)
            for function in functions:
                self.reached[function].add(index)
        for mutant in self.mutants:
            self._judge(mutant)
        return True

    def _judge(self, mutant: str) -> None:
        start = _seconds_used()
        function = mutant.partition("__mutmut_")[0]
        fate, by = self._fate_in_fork(mutant, function) if self.reached[function] else ("unreached", None)
        if fate in {"survived", "unreached"} and function in self.on_import:
            fate = judge_on_import(mutant)
        line = {"mutant": mutant, "fate": fate, "by": by, "seconds": round(_seconds_used() - start, 2)}
        self.out.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.out.flush()

    def _fate_in_fork(self, mutant: str, function: str) -> tuple[str, str | None]:
        order = self._order(mutant, function)
        answer, status = run_in_fork(lambda: self._first_failure(mutant, order))
        if status in {-signal.SIGPROF, -signal.SIGALRM}:
            return "timeout", None
        if status != 0:
            return "killed", f"status {status}"  # the process died: of too much memory, say
        if answer is None:
            return "survived", None
        for key in (function, get_module(mutant)):
            self.killers[key].appendleft(answer)
        self.kills[answer] += 1
        return "killed", self.items[answer].nodeid

    def _order(self, mutant: str, function: str) -> list[int]:
        """Order tests: killers of neighbouring mutants, of many mutants, quick ones by file (fixtures), slow ones."""
        reached = self.reached[function]
        often = [index for index, _ in self.kills.most_common(MAX_KILLERS)]
        known = dict.fromkeys([*self.killers[function], *self.killers[get_module(mutant)], *often])
        first = [index for index in known if index in reached]
        others = reached.difference(known)
        quick = [index for index in sorted(others) if self.seconds[index] < QUICK_SECONDS]
        slow = [index for index in others if self.seconds[index] >= QUICK_SECONDS]
        return [*first, *quick, *sorted(slow, key=self.seconds.__getitem__)]

    def _first_failure(self, mutant: str, order: list[int]) -> tuple[int | None, int]:
        switch.switch_on(mutant)
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.alarm(MAX_WALL_SECONDS)
        for index, following in zip_longest(order, order[1:]):
            signal.setitimer(signal.ITIMER_PROF, TIMEOUT_FACTOR * self.seconds[index] + TIMEOUT_GRACE_SECONDS)
            nextitem = None if following is None else self.items[following]
            if any(
                report.failed for report in runtestprotocol(self.items[index], log=False, nextitem=nextitem)
            ):
                return index, 0
        return None, 0


def _shorten(items: list[pytest.Item]) -> None:
    for function in {item.obj for item in items}:
        own = getattr(function, "_hypothesis_internal_use_settings", None)
        if own is not None:
            function._hypothesis_internal_use_settings = settings(
                own, max_examples=min(MAX_EXAMPLES, own.max_examples)
            )


def _seconds_used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def judge_on_import(mutant: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.mutate.judge", "fresh"],
        env={**os.environ, "MUTANT_ON_IMPORT": mutant},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (MAX_IMPORT_SECONDS, MAX_IMPORT_SECONDS)),
        capture_output=True,
        check=False,
    )
    if ended.returncode == -signal.SIGXCPU:
        return "timeout"
    return "survived" if ended.returncode == 0 else "killed"


def main() -> None:
    settings.register_profile(  # that something failed is enough: no shrinking
        "mutants", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate]
    )
    Path("var").mkdir(exist_ok=True)
    if sys.argv[1:] == ["fresh"]:
        sys.exit(pytest.main([*TABLES, *ARGUMENTS, "-x", "--basetemp=var/fresh"]))
    mutants = sys.stdin.read().split()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what pytest says is no answer
    watch = CallWatcher()
    watch.start()
    for module in walk_packages(policy.__path__, f"{policy.__name__}."):
        import_module(module.name)
    judge = Judge(mutants, watch.stop(), out)
    sys.exit(pytest.main([*ARGUMENTS, "--basetemp=var/judging"], plugins=[judge]))


if __name__ == "__main__":
    main()
