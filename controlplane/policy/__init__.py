"""The policy decision point, in plain Python.

Values in, values out: ``decide(call, snapshot, now, filesystem) -> Decision``. Nothing in this package
imports Django, reads a clock, opens a file or a socket; what must be known about the disk is asked
through the `Filesystem` parameter. Start reading at `decision`.
"""
