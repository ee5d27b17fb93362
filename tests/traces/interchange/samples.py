"""Files of records, imported into an empty workspace."""

from __future__ import annotations

import io
import json

from tests.traces.builders import HOME
from traces.interchange.imports.import_file import TraceImportOptions, import_file


def lines(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def bring(raw, **how):
    return import_file(
        io.BytesIO(raw).read, TraceImportOptions(HOME, "token:1:Ada", **{"lenient": True, **how})
    )
