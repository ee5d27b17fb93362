"""The log as tlog-tiles: whoever may read it copies and checks all of it with tools that are not ours."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from controlplane.models import Workspace
from tests.builders import speaker
from tests.programs import require
from tests.traces.builders import append_many
from traces.ledger import checkpoints, merkle, proofs
from traces.ledger.log_name import log_origin, log_uuid
from traces.ledger.sealing import seal
from traces.models import LedgerEntry
from traces.tlog.tiles import TilePlace, format_index, parse_place

GO_PACKAGES = Path("/usr/share/gocode")  # Debian's golang-golang-x-mod-dev
SIZE = 600


@pytest.fixture
def log(acme):
    """(address, token's headers, head) of a ledger of two full tiles and a piece of a third."""
    append_many(SIZE, workspace_id=acme.pk)
    seal(acme.pk)
    headers = {"Authorization": f"Bearer {speaker(acme).secret}"}
    return f"/{log_uuid(acme.pk)}", headers, proofs.find_head(acme.pk)


def read(log, path):
    address, headers, _ = log
    answer = Client().get(f"{address}/{path}", headers=headers)
    assert answer.status_code == 200, path
    return answer.content


def split_bundle(data):
    entries = []
    while data:
        size = int.from_bytes(data[:2], "big")
        entries.append(data[2 : 2 + size])
        data = data[2 + size :]
    return entries


@pytest.mark.django_db
def test_every_entry_can_be_copied_and_leads_to_the_signed_head(log, acme):
    note = checkpoints.parse_checkpoint(read(log, "checkpoint").decode())
    assert (note.origin, note.size) == (log_origin(acme.pk), SIZE)
    frontier, at = [], 0
    for place in ("000", "001", "002.p/88"):
        entries, hashes = split_bundle(read(log, f"tile/entries/{place}")), read(log, f"tile/0/{place}")
        assert b"".join(map(merkle.leaf_hash, entries)) == hashes
        for entry in entries:
            merkle.extend_frontier(frontier, at, merkle.leaf_hash(entry))
            at += 1
    assert merkle.fold_roots(frontier) == note.root
    full = [merkle.fold_complete_subtree(proofs.split_hashes(read(log, f"tile/0/00{n}"))) for n in range(2)]
    assert read(log, "tile/1/000.p/2") == b"".join(full)
    assert read(log, "tile/0/001.p/7") == read(log, "tile/0/001")[: 7 * 32]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "place", ["0/002", "0/002.p/89", "0/003.p/1", "1/000", "1/000.p/3", "entries/002", "0/000.p/0", "0/000.p/256", "0/0", "0/x000/001", "9/000", "-1/000", "0/../000"],
)  # fmt: skip
def test_what_the_head_does_not_cover_and_other_places_are_404(log, place):
    address, headers, _ = log
    assert Client().get(f"{address}/tile/{place}", headers=headers).status_code == 404


@pytest.mark.django_db
def test_others_read_it_only_where_the_operator_says_so(log, max_, settings):
    address, _, head = log
    stranger = {"Authorization": f"Bearer {speaker(Workspace.objects.get(slug='elsewhere'), 'admin').secret}"}
    for headers in ({}, stranger, {"Authorization": "Bearer icp_wrong"}, {"Authorization": "Basic x"}):
        for path in ("checkpoint", "tile/0/000", "tile/entries/000"):
            assert Client().get(f"{address}/{path}", headers=headers).status_code == 404
    settings.PUBLIC_LOGS = ("acme",)
    assert Client().get(f"{address}/checkpoint").content.decode() == head.note
    assert Client().get(f"{address}/tile/entries/000").status_code == 200
    assert Client().post(f"{address}/checkpoint").status_code == 405


def test_places_are_written_in_groups_of_three_digits():
    for index, text in ((0, "000"), (999, "999"), (1000, "x001/000"), (1_234_067, "x001/x234/067")):
        assert format_index(index) == text
        assert parse_place(f"0/{text}") == TilePlace(0, index, 256)
    assert parse_place("entries/001.p/7") == TilePlace(-1, 1, 7)


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_gos_own_packages_copy_the_log_and_check_it(log, live_server, acme):
    is_there = shutil.which("go") and GO_PACKAGES.exists()
    require(None if is_there else "golang-go or golang-golang-x-mod-dev is not installed", "go")
    address, headers, _ = log
    key = checkpoints.format_verifier_key(log_origin(acme.pk), checkpoints.load_public_key())
    command = ["go", "run", str(Path(__file__).with_name("copy_log.go")), live_server.url + address, key]
    environment = os.environ | {"GO111MODULE": "off", "GOPATH": str(GO_PACKAGES), "GOFLAGS": ""}
    environment |= {"GOCACHE": os.environ.get("GOCACHE", "/tmp/go-build")}
    command.append(headers["Authorization"].removeprefix("Bearer "))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == f"{SIZE} entries of {log_origin(acme.pk)} are in the tree that was signed\n", (
        done.stderr
    )
    assert LedgerEntry.objects.filter(workspace_id=acme.pk).count() == SIZE
