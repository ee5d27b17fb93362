"""Management commands run one after another in one process, because to start Django costs more than most of them.

    python -m tests.live_commands

Reads a JSON list of words a line, answers `{"status", "output"}` a line.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from io import StringIO

import django
from django.core.management import CommandError, call_command


def run(words: list[str]) -> dict[str, object]:
    """Run one command; status as the process of `manage.py` would end with."""
    output = StringIO()
    try:
        with redirect_stdout(output):  # `shell -c` prints past the command's own `stdout`
            call_command(*words, stdout=output, stderr=output)
    except CommandError as error:
        return {"status": 1, "output": f"{output.getvalue()}{error}"}
    except SystemExit as error:
        return {"status": error.code or 0, "output": output.getvalue()}
    return {"status": 0, "output": output.getvalue()}


def main() -> None:
    django.setup()
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
