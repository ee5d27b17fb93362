"""States of the shell, merged behind branches."""

from __future__ import annotations

from controlplane.policy.shell.state import Constant, State, merge


def test_branches_that_never_end_leave_nothing():
    here, there = State(("a",)), State(("b",))
    assert merge(here, here.after_exit()) == here
    assert merge(here.after_exit(), there) == there
    assert merge(here, there).directories == ("a", "b")
    assert merge(State(None), here).directories is None
    many = [State((str(number),)) for number in range(9)]
    whole = many[0]
    for state in many[1:]:
        whole = merge(whole, state)
    assert whole.directories is None


def test_a_constant_survives_only_where_both_branches_agree():
    one = State(("",), constants={"x": Constant("a"), "y": Constant("b")})
    other = State(("",), constants={"x": Constant("a"), "y": Constant("c")})
    assert merge(one, other).constants == {"x": Constant("a")}
