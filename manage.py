#!/usr/bin/env python
import contextlib
import os
import sys

from controlplane.management.command_line import CommandLine

READER_GONE, INTERRUPTED = 128 + 13, 128 + 2  # as a shell tells of SIGPIPE and SIGINT


def main() -> int:
    """Runs a command. Whoever reads may stop reading (`| head`), whoever waits may stop waiting (Ctrl-C)."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    try:
        CommandLine(sys.argv).execute()
        sys.stdout.flush()
    except BrokenPipeError:
        _write_no_more()
        return READER_GONE
    except KeyboardInterrupt:
        with contextlib.suppress(BrokenPipeError):
            sys.stderr.write("\nInterrupted.\n")
        return INTERRUPTED
    return 0


def _write_no_more() -> None:
    """What is still in the buffers would fail once more when the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
