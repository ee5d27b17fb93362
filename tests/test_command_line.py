"""`manage.py` as it is run: whoever reads may leave, whoever waits may interrupt, and neither is a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def manage(tmp_path):
    """`manage("help", stdout=…)`: a started process with an environment of its own.

    A shell makes what runs in its background deaf to Ctrl-C, and children inherit that: not these.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ICP_")}

    def start(*words, **how):
        return subprocess.Popen(
            [sys.executable, "manage.py", *words], cwd=ROOT, stderr=subprocess.PIPE, text=True,
            env=clean | {"ICP_DATA_DIR": str(tmp_path / "data")}, **how,
        )  # fmt: skip

    yield start
    signal.signal(signal.SIGINT, before)


def test_a_reader_that_has_gone_ends_a_command_without_a_traceback(manage):
    reading, writing = os.pipe()
    os.close(reading)
    process = manage("help", "--commands", stdout=writing)
    os.close(writing)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + signal.SIGPIPE, "")


def test_an_interrupted_command_says_so_without_a_traceback(manage):
    process = manage("migrate", "--noinput", stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it is at work
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    assert (process.returncode, said.strip()) == (128 + signal.SIGINT, "Interrupted.")


def test_a_command_that_does_not_exist_still_fails(manage):
    process = manage("nothing_of_this_name", stdout=subprocess.PIPE)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Unknown command" in said
