"""Trees that the grammar has not been seen to make, but might one day."""

from __future__ import annotations

from types import SimpleNamespace

from controlplane.policy.shell.state import State


def leaf(kind, *, named=False):
    return SimpleNamespace(
        type=kind, is_named=named, start_byte=0, end_byte=0, byte_range=(0, 0), children=[]
    )


WALKER = SimpleNamespace(tree=SimpleNamespace(data=b""))


STATE = State(("",))
