"""The settings pages as a browser sees them."""

from __future__ import annotations

import re

from traces.ledger.append import read_body
from traces.models import LedgerEntry


def settings_of(workspace, page=""):
    return f"/w/{workspace.slug}/settings/{page}"


def version_on(client, address):
    return re.search(r'name="version" value="(\d+)"', client.get(address).content.decode())[1]


def newest(workspace, kind="policy"):
    entry = LedgerEntry.objects.filter(workspace_id=workspace.pk, kind=kind).order_by("-pk").first()
    return entry.outcome, read_body(entry)
