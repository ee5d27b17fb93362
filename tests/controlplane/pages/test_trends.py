"""What the overview says of the last days: decisions, contested files, who decided."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest
from django.utils import timezone

from controlplane.pages.trends import DAYS, HEIGHT, list_contested_files, load_decision_bars
from controlplane.server.background import LEADER_LOOPS
from sessions.models import Approval
from tests import builders

pytestmark = pytest.mark.django_db


def count_entries():
    for name, _, task in LEADER_LOOPS:
        if name in {"seal ledgers", "count entries"}:
            task()


def test_decisions_are_counted_by_day_and_outcome(acme, at_work):
    at_work.gate("Read", file_path="a.md")
    at_work.gate("Edit", file_path="docs/a.md", old_string="a", new_string="b")
    at_work.gate("Write", file_path="/etc/passwd", content="x")
    at_work.gate("Read", file_path="b.md")
    count_entries()
    now = timezone.now()
    bars = load_decision_bars(acme.pk, now)
    assert len(bars) == DAYS
    assert bars[-1].day == now.astimezone(UTC).date()
    assert bars[-1].counts == {"allow": 2, "ask": 1, "deny": 1}
    assert [part.outcome for part in bars[-1].parts] == ["allow", "ask", "deny"]
    assert (sum(part.height for part in bars[-1].parts), bars[-1].parts[-1].y) == (HEIGHT, 0)
    assert [bar.total for bar in bars[:-1]] == [0] * (DAYS - 1)
    assert load_decision_bars(acme.pk, now + timedelta(days=30)) == []


def test_a_file_is_contested_where_two_intents_have_changed_it(acme, at_work):
    builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    at_work.select("INT-002", session="s-2")
    for session, path in (("s-1", "src/auth/a.ts"), ("s-1", "shared.ts"), ("s-2", "shared.ts")):
        at_work.post(f"sessions/{session}/traces", {"path": path, "content": session})
    count_entries()
    now = timezone.now()
    assert [(file.path, file.intents) for file in list_contested_files(acme.pk, now)] == [("shared.ts", 2)]
    assert list_contested_files(acme.pk, now + timedelta(days=30)) == []


def test_reviewers_see_their_own_load_and_others_that_of_all(acme, at_work, rex, ada, ivy):
    at_work.gate("Edit", file_path="docs/a.md", old_string="a", new_string="b")
    now = timezone.now()
    Approval.objects.update(status="REJECTED", decider="Ada", decided_by=ada, decided_at=now)
    seen = {
        person.username: [one.name for one in builders.signed_in(person).get("/w/acme/").context["reviewers"]]
        for person in (ada, ivy, rex)
    }
    assert seen == {"ada": ["Ada"], "ivy": ["Ada"], "rex": []}
