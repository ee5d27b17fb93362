"""The dearest calls, each bounded as a ratio to a fixed loop: an ordinary call costs a tenth of a yardstick.

They go the whole way of a call: parsing, judging, masking, recording.
"""

from __future__ import annotations

import json
from functools import partial

import pytest

from controlplane.server.front.gate import GateCall
from controlplane.shared.steps import run_steps
from controlplane.shared.tokens import find_bearer
from sessions.gate.record import record_alone
from tests import builders
from tests.workload import bounded, measure

MOST = 40  # yardsticks: 400 ms on a quiet machine, where an ordinary call takes 1


def patch(files: int) -> dict[str, str]:
    names = (f"*** Add File: src/auth/f{number}.ts\n+x\n" for number in range(files))
    return {"input": f"*** Begin Patch\n{''.join(names)}*** End Patch\n"}


def hunks(number: int) -> dict[str, str]:
    return {
        "input": "*** Begin Patch\n*** Update File: src/auth/a.ts\n"
        + "@@\n-a\n+b\n" * number
        + "*** End Patch\n"
    }


def repeated(text: str, length: int = 900_000) -> str:
    return text * (length // len(text))


EDIT = {"old_string": "a", "new_string": "b"}
CALLS = {
    "a patch of files": ("apply_patch", patch(25_000)),
    "a patch within the limit": ("apply_patch", patch(500)),
    "a patch of hunks": ("apply_patch", hunks(60_000)),
    "edits": ("MultiEdit", {"file_path": "src/auth/a.ts", "edits": [EDIT] * 18_000}),
    "fields": ("mcp__x__y", {f"k{number}": "vvv" for number in range(40_000)}),
    "secrets in fields": ("mcp__x__y", {f"k{number}": "password: hunter2" for number in range(20_000)}),
    "secrets in a list": ("mcp__x__y", {"a": ["password=x"] * 50_000}),
    "options in a list": ("mcp__x__y", {"a": ["--password", "b"] * 40_000}),
    "nesting": ("mcp__x__y", json.loads('{"a":' * 60 + "1" + "}" * 60)),
    "paths": ("Read", {"paths": [f"src/auth/{number}" for number in range(1_999)]}),
    "a long path": ("Write", {"file_path": "a/" * 2000 + "x", "content": ""}),
    "a deep pattern": ("Glob", {"pattern": "**/" * 300 + "x"}),
    "headers": ("Write", {"file_path": "src/auth/a.ts", "content": repeated("X-Api-Key: ")}),
    "several texts": (
        "mcp__x__y",
        {text[:2]: repeated(text, 190_000) for text in ("X-Api-Key: ", 'password: "', "--password ", "curl -u ", "a://b:")},
    ),
    "beginnings of keys": ("Write", {"file_path": "src/auth/a.ts", "content": repeated("-----BEGIN A PRIVATE KEY-----")}),
    "commands": ("Bash", {"command": repeated("cat a.txt; ", 16_000)}),
    "braces": ("Bash", {"command": repeated("cat {a,b,c,d}{1..9}.txt; ", 16_000)}),
    "quotes": ("Bash", {"command": repeated("echo \"$(echo '`a`')\"; ", 16_000)}),
    "a here document": ("Bash", {"command": "cat <<E\n" + "a $b\n" * 3_000 + "E"}),
    "loops in loops": ("Bash", {"command": "for i in {1..30}; do for j in {1..30}; do rm a$i/b$j; done; done"}),
    "loops": ("Bash", {"command": repeated("for i in {1..32}; do rm -rf src/a$i; done; ", 16_000)}),
    "a long command": ("Bash", {"command": repeated("echo a && ")}),
}  # fmt: skip


@pytest.mark.deep
@pytest.mark.django_db
@pytest.mark.parametrize(("tool", "tool_input"), CALLS.values(), ids=CALLS)
def test_no_call_costs_more_than_a_few_hundred_ordinary_ones(acme, agent, tool, tool_input):
    builders.intent(acme)
    agent.select("INT-001")
    agent.gate("Write", file_path="src/auth/a.ts", content="warm")
    bearer = find_bearer(agent.secret)
    costs = []
    for call_id in ("t-1", "t-2"):  # the lesser counts: a stutter of the machine is not the call's
        call = {"session_id": "s-1", "tool": tool, "input": tool_input, "tool_use_id": call_id}
        steps = GateCall().steps(bearer, json.dumps(call).encode(), "")
        reply, cost = measure(partial(run_steps, steps, record_alone))
        answer = json.loads(reply.body)
        assert reply.status == 200, answer
        assert answer["decision"] in {"allow", "ask", "deny"}
        assert answer["reason"] != "internal_error"
        costs.append(cost)
    assert min(costs) < MOST


@pytest.mark.django_db
def test_refusals_of_long_calls_do_not_make_later_ones_dear(acme, agent):
    """Who counts refusals reads what they were about, but not fifty texts of a megabyte."""
    builders.intent(acme)
    agent.select("INT-001")
    for number in range(12):
        agent.gate(
            "Write", file_path=f"docs/{number}.md", content="x" * 190_000, a="y" * 190_000, b="z" * 190_000
        )
    bearer = find_bearer(agent.secret)
    call = {"session_id": "s-1", "tool": "Write", "input": {"file_path": "docs/last.md", "content": "x"}}
    with bounded(10):  # unbounded it takes some 10 more for each of fifty
        run_steps(GateCall().steps(bearer, json.dumps(call).encode(), ""), record_alone)
