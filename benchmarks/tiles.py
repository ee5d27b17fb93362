"""Serve a log as tiles, and have Go's own packages copy it and check every entry.

    python benchmarks/tiles.py [--entries 1000000]

Needs Go and its package x/mod (Debian: golang-go, golang-golang-x-mod-dev), so `python -m benchmarks` leaves
it out. Works on a scratch database on SQLite and deletes it. Prints one JSON object; exit status 1 when the
copy does not hold. The bar is a ratio of one run: the last tenth of the log is read at least half as fast as
the first, so a request costs the same wherever it reads.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["ICP_DATA_DIR"] = SCRATCH = tempfile.mkdtemp()
os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
os.environ["ICP_PUBLIC_LOGS"] = "tiles"
os.environ.pop("ICP_DATABASE_URL", None)

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402

from controlplane.models import Workspace  # noqa: E402
from controlplane.wsgi import application  # noqa: E402
from traces.ledger import checkpoints  # noqa: E402
from traces.ledger.append import NewEntry, append_many  # noqa: E402
from traces.ledger.log_name import log_origin, log_uuid  # noqa: E402
from traces.ledger.sealing import seal  # noqa: E402
from traces.tlog.tiles import TilePlace, read_tile  # noqa: E402

BATCH = 10_000
COPY = Path(__file__).parents[1] / "tests" / "traces" / "tlog" / "copy_log.go"
GO = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": ""}


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Silent(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Results are printed, requests are not."""


def fill(workspace_id: int, entries: int) -> None:
    for start in range(0, entries, BATCH):
        count = min(BATCH, entries - start)
        with transaction.atomic():
            append_many(NewEntry(workspace_id, "decision", {"n": start + n}) for n in range(count))
        seal(workspace_id)


def time_tiles(workspace_id: int, first: int, count: int) -> float:
    """Return the seconds for reading bundles and tiles."""
    start = time.perf_counter()
    for index in range(first, first + count):
        assert read_tile(workspace_id, TilePlace(-1, index, 256))
        assert read_tile(workspace_id, TilePlace(0, index, 256))
    return time.perf_counter() - start


def copy(workspace_id: int, address: str) -> tuple[bool, str, float]:
    key = checkpoints.format_verifier_key(log_origin(workspace_id), checkpoints.load_public_key())
    start = time.perf_counter()
    command = ["go", "run", str(COPY), f"{address}/{log_uuid(workspace_id)}", key]
    done = subprocess.run(command, env=os.environ | GO, capture_output=True, text=True, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).strip(), time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    entries = parser.parse_args().entries
    call_command("migrate", verbosity=0)
    workspace = Workspace.objects.create(slug="tiles", name="Tiles")
    fill(workspace.pk, entries)
    tiles = entries // 256
    tenth = max(tiles // 10, 1)
    ratio = time_tiles(workspace.pk, 0, tenth) / time_tiles(workspace.pk, tiles - tenth, tenth)
    with make_server("127.0.0.1", 0, application, Server, Silent) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        held, said, seconds = copy(workspace.pk, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    shutil.rmtree(SCRATCH, ignore_errors=True)
    figures = {"benchmark": "tiles", "entries": entries, "copied": said, "seconds": round(seconds, 1)}
    print(json.dumps(figures | {"last_tenth_to_first": round(ratio, 2), "holds": held and ratio >= 0.5}))
    sys.exit(0 if held and ratio >= 0.5 else 1)


if __name__ == "__main__":
    main()
