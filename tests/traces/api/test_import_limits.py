"""An import ends in time, whatever the file holds."""

from __future__ import annotations

import pytest

from controlplane.api import raw_body
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db
JUNK = b'{"id": "x"\n' * 20_000


@pytest.mark.parametrize("query", ["", "?dry_run=true", "?lenient=true"])
def test_an_import_that_takes_too_long_is_given_up_and_stores_nothing(acme, admin, monkeypatch, query):
    monkeypatch.setattr(raw_body, "MAX_READ_SECONDS", -1)
    answer = admin.post(f"traces/import{query}", JUNK, content_type="application/x-ndjson")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "nothing of it was stored" in answer.json()["error"]
    assert not LedgerEntry.objects.filter(kind="trace").exists()


def test_a_junk_file_is_refused_with_its_errors(acme, admin):
    answer = admin.post("traces/import?dry_run=true", JUNK, content_type="application/x-ndjson")
    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 1000
