"""What all samples share; wherever an agent speaks, it says HOSTILE."""

from datetime import timedelta

from django.utils import timezone

HOSTILE = "<script>alert(1)</script>\u202egnp.exe"
NOW = timezone.now()
AGO = NOW - timedelta(minutes=4)
INTENT = {"id": "INT-001", "name": HOSTILE, "status": "IN_PROGRESS"}
CRITERIA = [
    {"text": "Load test", "status": "open", "evidence": []},
    {
        "text": HOSTILE,
        "status": "met",
        "claimed_by": HOSTILE,
        "claimed_at": AGO,
        "confirmed_by": HOSTILE,
        "confirmed_at": None,
        "evidence": [
            {"type": "trace", "text": HOSTILE, "number": 7},
            {"type": "command", "text": HOSTILE, "exit_status": 1, "is_reported": True, "number": None},
            {"type": "note", "text": HOSTILE},
        ],
    },
]
SEALED = {"state": "sealed", "number": 18_230, "url": "#seal"}
PAGER = {"older_url": "?cursor=b", "newer_url": None, "note": "Rows 1 to 100"}
