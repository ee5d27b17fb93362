"""What the person who looks at a card may do."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from controlplane.models import Role
from sessions.models import Approval
from tests import builders
from tests.sessions.approvals.approval_builders import edit


def test_what_a_reader_may_do(acme, at_work, rex, drawn):
    approval = edit(at_work)
    assert drawn(approval).state == "pending"
    card = drawn(approval, Role.AUDITOR)
    assert (card.state, card.can_extend) == ("reader", False)
    own = edit(builders.speaker(acme, acts_for=rex), "docs/x.md", "s-9")
    assert drawn(own).state == "yours"


def test_five_more_minutes_are_offered_near_the_end(at_work, drawn):
    approval = edit(at_work)
    assert (drawn(approval).can_extend, drawn(approval).near_end) == (True, False)
    Approval.objects.update(expires_at=timezone.now() + timedelta(seconds=60))
    assert drawn(approval).near_end
    Approval.objects.update(extended=True)
    assert not drawn(approval).can_extend
