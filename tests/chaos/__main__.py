"""Break what the environment names, and write the table of faults in docs/operate.md.

    python -m tests.chaos [--seconds 15] [--write] [words of a fault …]

One server on SQLite; two on PostgreSQL and Redis where ICP_DATABASE_URL and ICP_REDIS_URL name them. Prints one JSON
object a fault; exit status 1 when something that was acknowledged is not recorded, a call is recorded twice, or
the service does not resume.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.evidence import Comparison, compare, read_decisions
from tests.chaos.faults import Fault, list_faults
from tests.chaos.installation import Installation, install
from tests.chaos.load import AGENTS, ASKING, SERVED, WORKING, Load
from tests.chaos.table import MANUAL, Row, update
from tests.live import LiveServer
from tests.test_outages import eventually

WARM_CALLS = 30
RESUME_SECONDS = 90  # loose: it takes seconds
SENT_AGAIN = 20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=15, help="How long each fault lasts.")
    parser.add_argument("--write", action="store_true", help="Write the table in docs/operate.md.")
    parser.add_argument("only", nargs="*", help="Words of the names of faults; default: all.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, install(Path(folder)) as installation:
        faults = [
            fault for fault in list_faults(installation) if all(word in fault.name for word in options.only)
        ]
        if not faults:
            parser.error("no fault has these words in its name")
        # Made before anything breaks: what is asked once may meet a connection that was cut.
        tokens = [prepare(installation.nodes[0], name_workspace(fault)) for fault in faults]
        holds = True
        for fault, token in zip(faults, tokens, strict=True):
            row = run(installation, fault, token, options.seconds)
            holds &= not (row.lost or row.twice)
            if options.write:
                MANUAL.write_text(update(MANUAL.read_text(encoding="utf-8"), [row]), encoding="utf-8")
    sys.exit(0 if holds else 1)


def name_workspace(fault: Fault) -> str:
    return re.sub(r"[^a-z]+", "-", fault.name.lower())


def run(installation: Installation, fault: Fault, token: str, seconds: float) -> Row:
    """Break one thing under load, wait until all agents are served again, and read the ledger."""
    slug = name_workspace(fault)
    load = Load(installation.nodes, token)
    load.start()
    try:
        eventually(lambda: len(load.acknowledged) > WARM_CALLS, RESUME_SECONDS)
        load.answers.clear()
        with fault.begin(installation):
            time.sleep(seconds)
        before = load.served.copy()
        eventually(lambda: all(load.served[agent] > before[agent] for agent in range(AGENTS)), RESUME_SECONDS)
    finally:
        load.stop()
    load.send_again(SENT_AGAIN)
    for each in installation.nodes:
        each.end_commands()  # their connection may have been cut
    node = installation.nodes[-1]
    comparison = compare(load.acknowledged, read_decisions(node, slug))
    node.manage("verify_ledger", "--workspace", slug)
    report(fault, load, comparison)
    return Row(
        fault,
        tuple(sorted(load.answers.keys() - {SERVED})) or (SERVED,),
        len(load.acknowledged),
        len(comparison.lost) + len(load.contradictions),
        len(comparison.twice),
    )


def prepare(node: LiveServer, slug: str) -> str:
    """Make a workspace with a session that works and one that asks. Return the agent's token."""
    tokens = node.workspace(slug)
    status, answer = node.api(tokens["admin"], "PATCH", "policy", {"shared_intents": "allow"})
    assert status == 200, answer
    for session in (WORKING, ASKING):
        node.select(tokens["agent"], session)
    return tokens["agent"]


def report(fault: Fault, load: Load, comparison: Comparison) -> None:
    figures = {
        "on": fault.database,
        "fault": fault.name,
        "answers": dict(load.answers),
        "acknowledged": len(load.acknowledged),
        "lost": comparison.lost,
        "told_otherwise": load.contradictions,
        "twice": comparison.twice,
        "healthz_median_s": round(statistics.median(load.probes), 4),
        "healthz_slowest_s": round(max(load.probes), 4),
    }
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
