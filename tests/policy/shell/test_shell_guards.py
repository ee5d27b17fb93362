"""Guards against trees that the grammar has not been seen to make, but might one day."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from controlplane.policy.shell import analyse
from controlplane.policy.shell.bash import control_flow, redirects
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import Constant, State, always, merge


def leaf(kind, *, named=False):
    return SimpleNamespace(
        type=kind, is_named=named, start_byte=0, end_byte=0, byte_range=(0, 0), children=[]
    )


WALKER = SimpleNamespace(tree=SimpleNamespace(data=b""))
STATE = State(("",))


def test_a_list_knows_two_operators():
    with pytest.raises(UnclearCommandError):
        control_flow.run_connected(always(STATE), "!", always)


def test_a_clause_needs_its_border():
    with pytest.raises(UnclearCommandError):
        control_flow._find_token(leaf("elif_clause", named=True), "then")


def test_a_redirect_needs_a_target():
    node = leaf("file_redirect", named=True)
    node.children = [leaf(">")]
    node.children_by_field_name = lambda _name: []
    with pytest.raises(UnclearCommandError):
        redirects.open_redirect(WALKER, node, STATE)


def test_a_here_document_needs_a_body():
    node = leaf("heredoc_redirect", named=True)
    node.children = [leaf("<<"), leaf("heredoc_start", named=True)]
    with pytest.raises(UnclearCommandError):
        redirects.open_redirect(WALKER, node, STATE)


def test_the_line_of_a_here_document_is_a_closed_list():
    with pytest.raises(UnclearCommandError):
        redirects._read_line(WALKER, [leaf("<<"), leaf(";")], STATE)


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


def test_a_listed_command_loses_its_unknown_but_keeps_its_targets():
    analysis = analyse("curl -o out.txt https://example.org", safe_commands=("curl *",))
    assert [path.raw for path in analysis.writes] == ["out.txt"]
    assert not analysis.unknown


def test_too_many_paths_are_unknown():
    command = "touch " + " ".join(f"f{number}" for number in range(1_001)) + "; ls"
    assert analyse(command).unknown


def test_too_many_links_are_not_followed():
    assert analyse("".join(f"ln -s a b{number}; " for number in range(41))).unknown
