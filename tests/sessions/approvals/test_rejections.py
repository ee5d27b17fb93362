"""How an agent is told of a rejection; what follows from one is in `test_lifecycle.py`."""

from __future__ import annotations

from sessions.approvals.rejections import format_rejection


def test_what_a_reviewer_said_keeps_its_own_full_stop():
    assert format_rejection("Rex", "Not today.") == "Rejected by Rex: Not today."
    assert format_rejection("Rex", " later ") == "Rejected by Rex: later."
    assert format_rejection("Rex", "") == "Rejected by Rex: no reason given."
