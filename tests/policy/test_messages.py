"""What people and agents are told, word by word, by input: `data/messages.json` holds both. No message: nothing is wrong.

Limits stand there as well: `{"text": "x", "times": 512}` is a long text, a list of one such thing a long list.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controlplane.policy.calls import patch_formats
from controlplane.policy.calls.targets import find_targets
from controlplane.policy.explain import explain
from controlplane.policy.globs import parse
from controlplane.policy.model import Grant, Policy, Registry
from controlplane.policy.paths.canonical import InvalidPath, canonicalize
from controlplane.policy.rules import constraints, policy_document
from tests.policy.builders import NOW, bash, call, intent, judge, no_intent, snapshot, write

MESSAGES = json.loads((Path(__file__).parent / "data" / "messages.json").read_text())
FORBIDS = {"type": "forbid_pattern", "pattern": "x"}
ROOTS = {
    "posix": "/home/ada/acme",
    "windows": "C:\\Users\\Ada\\acme",
    "wrong": "acme",
    "none": None,
    "empty": "",
}


def written_out(value):
    """The value with what is repeated in it."""
    if isinstance(value, dict):
        if value.keys() == {"text", "times"}:
            return value["text"] * value["times"]
        return {name: written_out(each) for name, each in value.items()}
    if isinstance(value, list):
        if len(value) == 2 and value[0] == "times":
            return ["x"] * value[1]
        return [written_out(each) for each in value]
    return value


def of_policy(document):
    return [
        f"{each.key}: {each.message} Allowed: {each.allowed}"
        for each in policy_document.find_problems(document)
    ]


def of_glob(pattern):
    found = parse.find_problem(pattern)
    return [found.message] if found else []


def of_path(given):
    root, raw, use = given
    found = canonicalize(raw, root=ROOTS[root], cwd=None, writing=use == "write")
    return [found.message] if isinstance(found, InvalidPath) else []


def of_constraint(rule):
    return [constraints.find_problem(rule)] if constraints.find_problem(rule) else []


def of_breach(given):
    tool, data, rule = given
    decision = judge(call(tool, data), snapshot(intent=intent("**", constraints=(rule,))))
    return [decision.error] if decision.error else []


def of_patch(text):
    return (
        [patch_formats.parse(text).unreadable_reason] if patch_formats.parse(text).unreadable_reason else []
    )


def of_call(given):
    agent, tool, data = given
    return [
        f"{unknown.text}: {unknown.reason}"
        for unknown in find_targets(call(tool, data, agent=agent), Policy()).unknown
    ]


def of_steps(name):
    the_call, the_snapshot = STEPS[name]
    return [
        f"{step.name} ({step.observed}): {step.outcome} {step.text}"
        for step in explain(the_call, the_snapshot, NOW)
    ]


def _granted():
    asked = judge(bash("make all"), snapshot("src/**"))
    return snapshot("src/**", grants=(Grant("g-1", "once", asked.error_type, asked.digest),))


STEPS = {
    "allowed": (write("src/a.ts"), snapshot("src/**")),
    "safe": (bash("cat a b"), no_intent()),
    "in scope or not": (write("docs/a.md"), snapshot("src/**", "lib/**")),
    "of nobody": (write("docs/a.md"), snapshot("src/**", policy=Policy(approvable=frozenset()))),
    "no intent": (write("src/a.ts"), no_intent()),
    "no registry": (bash("ls"), no_intent(registry=Registry.EMPTY)),
    "granted": (bash("make all"), _granted()),
    "unknown": (bash("make all; npm install"), snapshot("src/**")),
    "broken": (write("a"), None),
    "constraint": (write("a.ts"), snapshot(intent=intent("**", constraints=(FORBIDS,)))),
    "whole folder": (call("delete_directory", {"path": "."}), snapshot("src/**")),
}
TELLERS = {
    "policy": of_policy,
    "glob": of_glob,
    "path": of_path,
    "constraint": of_constraint,
    "breach": of_breach,
    "patch": of_patch,
    "call": of_call,
    "steps": of_steps,
}


@pytest.mark.parametrize(("subject", "given", "sentences"), MESSAGES)
def test_the_sentence_for(subject, given, sentences):
    assert TELLERS[subject](written_out(given)) == sentences
