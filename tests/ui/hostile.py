"""What all samples share; wherever an agent speaks, it says HOSTILE."""

from datetime import timedelta

from django.utils import timezone

HOSTILE = "<script>alert(1)</script>\u202egnp.exe"
NOW = timezone.now()
AGO = NOW - timedelta(minutes=4)
INTENT = {"id": "INT-001", "name": HOSTILE, "status": "IN_PROGRESS"}
SEALED = {"state": "sealed", "number": 18_230, "url": "#seal"}
PAGER = {"older_url": "?cursor=b", "newer_url": None, "note": "Rows 1 to 100"}
