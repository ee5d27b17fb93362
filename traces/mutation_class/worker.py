"""Run as the worker process: one JSON request per line in, one JSON answer per line out."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys

from traces.mutation_class.compare import classify_change
from traces.mutation_class.symbols import find_symbols

CPU_SECONDS = 3  # for one request; beyond it the kernel kills this process, even inside of the parser
MAX_MEMORY = 1024**3  # bytes
NICENESS = 5  # requests to the gate go first


def main() -> None:
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        _limit_cpu_time()
        request = json.loads(line)
        answer = json.dumps(find_symbols(**request) if "text" in request else classify_change(**request))
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _limit_cpu_time() -> None:
    # RLIMIT_CPU counts from the start of the process, so each request moves it.
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent + CPU_SECONDS, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
