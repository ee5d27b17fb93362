"""Entries as lines, imported into an empty workspace."""

from __future__ import annotations

import io
import json

from tests.traces.builders import HOME
from traces.interchange.imports.import_file import TraceImportOptions, import_file
from traces.models import EntryKind, LedgerEntry


def entry(entry_id="e-1", **more):
    return {
        "id": entry_id,
        "timestamp": "2026-02-21T12:00:00Z",
        "vcs": {"revision_id": "abc"},
        "files": [],
        **more,
    }


def line_of(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def bring(raw, **how):
    return import_file(io.BytesIO(raw).read, TraceImportOptions(HOME, "token:1:Max", **how))


def traces():
    return LedgerEntry.objects.filter(kind=EntryKind.TRACE)


def types(remarks):
    return [remark.type for remark in remarks]
