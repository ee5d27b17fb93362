"""The sender of news to other processes must not keep its process from ending."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.live import ROOT

PROGRAM = """
import time
import django
from django.conf import settings
django.setup()
settings.REDIS_URL = "redis://127.0.0.1:1/0"
from controlplane.shared import notify
notify.announce(1)
while notify._pending:
    time.sleep(0.01)
time.sleep(0.3)  # until the sender waits again
print("announced")
"""
SECONDS = 60  # a process that waits for its sender never ends


def test_a_process_that_has_announced_something_ends():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "controlplane.settings"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "announced\n"), done.stderr
