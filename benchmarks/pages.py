"""Pages over a large ledger, in process: server time, number of queries, size.

    python benchmarks/pages.py [--quick]

Works on a scratch database beside the configured one (ICP_DATABASE_URL is used when set) and drops it. Prints
one JSON object a line; exit status 1 when a bar does not hold. The bars are those of a million entries; a
page's time is held to that of a list without a row over few entries, which takes turns with it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("ICP_DATA_DIR", tempfile.mkdtemp())
os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks.filling import fill, make_workspace  # noqa: E402
from benchmarks.repositories import make_repository  # noqa: E402
from controlplane.models import Workspace  # noqa: E402
from traces.models import LedgerEntry, TraceFile  # noqa: E402

ENTRIES, QUICK_ENTRIES, SMALL_ENTRIES = 1_000_000, 50_000, 2_000
MAX_TIMES = {"postgresql": 12, "sqlite": 15}  # the time of EMPTY_PAGE
MAX_KB = 200
MAX_QUERIES = 30  # of any page, with few entries as with a million


EMPTY_PAGE = "/w/small/traces/?q=no-such-thing"


def pages(workspace_id: int) -> dict[str, str]:
    """Name and address below the workspace of every page that is measured."""
    entries = LedgerEntry.objects.filter(workspace_id=workspace_id)
    middle = entries.order_by("pk")[entries.count() // 2].pk
    path = file_of(workspace_id)
    folder, _, name = path.rpartition("/")
    since = timezone.now() - timedelta(days=40)
    early = f"{since:%Y-%m-%dT%H:%M:%SZ}"
    late = f"{since + timedelta(hours=5):%Y-%m-%dT%H:%M:%SZ}"
    days = f"{since + timedelta(days=20):%Y-%m-%dT%H:%M:%SZ}"
    return {
        "overview": "",
        "list": "traces/",
        "list_older": f"traces/?before={middle}",
        "list_of_a_kind": "traces/?kind=approval&kind=session",
        "list_denied": "traces/?kind=decision&outcome=deny",
        "list_of_an_agent": "traces/?agent=cursor",
        "list_of_an_intent": "traces/?intent=INT-009",
        "list_of_a_session": f"traces/?session={entries.get(pk=middle).session_id}",
        "list_of_a_folder": f"traces/?folder={'/'.join(path.split('/')[:2])}",
        "list_of_a_path": f"traces/?path={path}",
        "list_below_a_path": f"traces/?path={folder}",
        "list_of_an_area": f"traces/?path={path.split('/')[0]}/",
        "list_without": "traces/?-agent=claude-code&-kind=trace&-outcome=allow",
        "list_of_nothing": "traces/?agent=cursor&outcome=deny&intent=INT-033&reason=none_selected",
        "list_of_disagreements": "traces/?kind=trace&reason=class_disagrees",
        "list_of_an_intents_disagreements": "traces/?kind=trace&intent=INT-009&reason=class_disagrees",
        "list_of_days": f"traces/?since={early}&until={days}",
        "list_of_hours": f"traces/?since={early}&until={late}&outcome=deny",
        "list_of_last_days": "traces/?last=7d",
        "search_a_file": f"traces/?q={name}",
        "search_much": "traces/?q=src",
        "search_an_agent": "traces/?q=cursor",
        "search_nothing": "traces/?q=no-such-thing",
        "deep_link": f"traces/?entry={middle}",
        "news": f"traces/?fragment=news&after={middle}",
        "map": "traces/map/",
        "map_search": "traces/map/?q=billing+logic",
        "file": f"traces/map/file/{path}",
        "file_lines": f"traces/map/file/{path}?fragment=lines",
        "intent": "intents/INT-009/",
        "session": "sessions/alive-1",
    }


def file_of(workspace_id: int) -> str:
    """The file whose page is measured, which has a past in a repository as well."""
    return TraceFile.objects.filter(workspace_id=workspace_id).order_by("pk")[10].path


def give_repository(workspace_id: int, folder: Path) -> None:
    make_repository(folder, file_of(workspace_id))
    Workspace.objects.filter(pk=workspace_id).update(local_root=str(folder))


def report(name: str, figure: float, unit: str, bar: str = "", *, holds: bool = True) -> bool:
    line = {"name": f"pages.{name}", "figure": round(figure, 3), "unit": unit, "bar": bar, "holds": holds}
    print(json.dumps(line), flush=True)
    return holds


def inspect(client: Client, address: str) -> tuple[int, float]:
    """(queries, kilobytes) of a page."""
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
        number = len(queries)  # before the next request forgets them
    assert response.status_code == 200, (address, response.status_code)
    return number, len(response.content) / 1024


def measure(client: Client, address: str, rounds: int) -> tuple[float, float]:
    """(median milliseconds of a page, median of its ratios to the empty page)."""
    times, ratios = [], []
    for _ in range(rounds):
        empty, page = (measure_once(client, target) for target in (EMPTY_PAGE, address))
        times.append(page)
        ratios.append(page / empty)
    return statistics.median(times), statistics.median(ratios)


def measure_once(client: Client, address: str) -> float:
    start = time.perf_counter()
    client.get(address)
    return (time.perf_counter() - start) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ENTRIES:,} entries")
    quick = parser.parse_args().quick
    entries, rounds = (QUICK_ENTRIES, 3) if quick else (ENTRIES, 7)
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        user = User.objects.create_user("bench")
        small, large = make_workspace("small", user), make_workspace("large", user)
        fill(small.pk, SMALL_ENTRIES)
        began = time.perf_counter()
        fill(large.pk, entries)
        report("fill", entries / (time.perf_counter() - began), "entries/s")
        for workspace in (small, large):
            give_repository(workspace.pk, Path(tempfile.mkdtemp()) / workspace.slug)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")  # what its autovacuum does within a minute
        held = compare(user, {"small": small.pk, "large": large.pk}, rounds)
    finally:
        connection.creation.destroy_test_db(connection.settings_dict["NAME"], verbosity=0)
    sys.exit(0 if held else 1)


def compare(user: User, workspaces: dict[str, int], rounds: int) -> bool:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(user)
    small = pages(workspaces["small"])
    held, bar = True, MAX_TIMES[connection.vendor]
    for name, path in pages(workspaces["large"]).items():
        queries, size = inspect(client, f"/w/large/{path}")
        milliseconds, ratio = measure(client, f"/w/large/{path}", rounds)
        report(name, milliseconds, "ms")
        held &= report(f"{name}.beside_empty", ratio, "ratio", f"<= {bar}", holds=ratio <= bar)
        held &= report(f"{name}.size", size, "KB", f"< {MAX_KB}", holds=size < MAX_KB)
        # The two workspaces may take different paths through a page; the bound holds for both.
        queries = max(queries, inspect(client, f"/w/small/{small[name]}")[0])
        holds = queries <= MAX_QUERIES
        held &= report(f"{name}.queries", queries, "queries", f"<= {MAX_QUERIES}", holds=holds)
    return held


if __name__ == "__main__":
    main()
