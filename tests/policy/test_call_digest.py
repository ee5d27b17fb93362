from __future__ import annotations

from dataclasses import replace

from controlplane.policy.call_digest import compute_digest
from controlplane.policy.model import Target
from controlplane.policy.paths.filesystem import UnknownFilesystem
from tests.policy.builders import FakeFilesystem, bash, call, intent, sha256

INTENT = intent("src/**")
ONE = (Target("src/a.ts"),)


def digest(the_call, own=INTENT, targets=ONE, world=None):
    return compute_digest(the_call, own, targets, world or UnknownFilesystem())


def test_the_same_call_has_the_same_digest_whatever_the_order_of_keys():
    one = call("Write", {"file_path": "src/a.ts", "content": "x"})
    two = call("Write", {"content": "x", "file_path": "src/a.ts"})
    assert digest(one) == digest(two)
    assert digest(one).startswith("sha256:")


def test_anything_that_differs_gives_another_digest():
    base = bash("make all")
    world = FakeFilesystem(src__a_ts="1")
    others = [
        digest(bash("make all ")),
        digest(bash("make\u00a0all")),
        digest(replace(base, tool="Shell")),
        digest(replace(base, cwd="src")),
        digest(replace(base, root="/elsewhere")),
        digest(base, None),
        digest(base, replace(INTENT, revision=2)),
        digest(base, replace(INTENT, intent_id="INT-002")),
        digest(base, targets=(Target("src/a_ts"),), world=world),
        digest(replace(base, current_content_hashes={"src/a.ts": sha256("new")})),
    ]
    assert len({digest(base), *others}) == len(others) + 1


def test_the_call_id_and_the_agent_are_no_part_of_it():
    assert digest(bash("make")) == digest(replace(bash("make"), call_id="toolu_1", agent="codex"))


def test_input_that_is_no_json_has_a_digest_too():
    assert digest(call("Write", {"x": {1}})) != digest(call("Write", {"x": "\ud800"}))
