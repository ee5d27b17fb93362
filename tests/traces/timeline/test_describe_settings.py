"""An entry about the settings says who got access, who is told, and which rules are others now."""

from __future__ import annotations

import pytest

from tests.traces.builders import HOME, append
from traces.ledger.append import NewEntry
from traces.models import EntryKind, LedgerEntry
from traces.timeline.describe_entries import describe
from traces.timeline.describe_settings import SettingsChange, describe_settings_change


@pytest.mark.parametrize(
    ("outcome", "body", "words"),
    [
        ("added", {"what": "member", "username": "ivy", "role": "auditor"}, ("Member added", "ivy", "as auditor")),
        ("role changed", {"what": "member", "username": "ivy", "role": "admin"}, ("Member role changed", "ivy", "as admin")),
        ("issued", {"what": "token", "name": "ci", "role": "agent"}, ("Token issued", "ci", "as agent")),
        ("revoked", {"what": "token", "name": "ci", "role": "agent"}, ("Token revoked", "ci", "as agent")),
        ("added", {"what": "outlet", "url": "https://x/", "form": "webhook", "kinds": [], "whole": True},
         ("Outlet added", "https://x/", "webhook: all entries, with contents")),
        ("removed", {"what": "outlet", "url": "https://x/", "form": "otlp", "kinds": ["trace", "decision"], "whole": False},
         ("Outlet removed", "https://x/", "otlp: trace, decision")),
        ("key_changed", {"what": "signing key", "new_key": "k"}, ("Signing key changed", "", "")),
        ("anchor_added", {"kind": "file", "target": "/heads", "every_minutes": 10}, ("Anchor added", "/heads", "file")),
        ("changed", {"what": "intentignore", "text": "x"}, (".intentignore changed", "", "")),
        ("changed", {"what": "policy", "before": {"a": 1, "b": 2}, "after": {"a": 1, "b": 3, "c": 4}}, ("Policy changed", "", "b, c")),
        ("archived", {"archive": "a.gz", "first": 0, "end": 1024, "bodies": 900}, ("Archived", "a.gz", "entries 0 to 1,023, 900 bodies")),
        ("released", {"archive": "a.gz"}, ("Released the bodies of", "a.gz", "")),
        ("melted", {"archive": 7}, ("Archive melted", "", "")),
        ("changed", {}, ("Policy changed", "", "")),
        ("added", {"what": ["odd"], "url": 7}, ("['odd'] added", "", "")),
    ],
)  # fmt: skip
def test_a_change_of_the_settings_in_words(outcome, body, words):
    assert describe_settings_change(outcome, body) == SettingsChange(*words)


@pytest.mark.django_db
def test_a_row_says_who_got_access():
    body = {"what": "member", "username": "ivy\u202e", "role": "auditor"}
    made = append(NewEntry(HOME, EntryKind.POLICY, body, outcome="added"))
    row = describe(LedgerEntry.objects.get(pk=made.id))
    assert (row.verb, row.object, row.object_is, row.note) == (
        "Member added",
        "ivy\u202e",
        "text",
        "as auditor",
    )
