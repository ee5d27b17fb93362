"""Documents made to hurt are refused within a second of work, with a report."""

from __future__ import annotations

import json

import pytest

from intents.file_format.registry_parser import parse_registry
from tests.workload import bounded

INTENT = b"active_intents:\n- id: INT-001\n  status: PENDING\n  owned_scope: [a]\n"

# Yardsticks. Each takes at most 70 on a quiet machine; what grows with the square of the input takes thousands.
SOON = 500

HOSTILE = {
    "deep flow": b"a: " + b"[" * 100_000,
    "deep but closed": b"a: " + b"[" * 900 + b"]" * 900,
    "deep blocks": b"".join(b" " * n + b"a:\n" for n in range(900)),
    "an alias of itself": b"a: &a [*a]",
    "a mapping of itself": b"a: &a {b: *a}",
    "aliases of a large node": INTENT + b"x: &x [" + b"1," * 5_000 + b"]\ny: [*x, *x, *x]\n",
    "merges of a large node": b"x: &x {"
    + b",".join(b"k%d: 1" % n for n in range(2_000))
    + b"}\n"
    + b"".join(b"m%d: {<<: *x}\n" % n for n in range(2_000)),
    "an undefined alias": b"a: *nowhere",
    "a tag that calls": b"a: !!python/object/apply:os.system ['true']",
    "a tag of its own": b"a: !secret x",
    "a binary": b"a: !!binary aGVsbG8=",
    "a set": b"a: !!set {x, y}",
    "a key that is a list": b"? [a, b]\n: c",
    "two documents": INTENT + b"--- {}\n",
    "half a character": INTENT + b"name: \xc3",
    "UTF-16": INTENT.decode().encode("utf-16"),
    "a control character": INTENT + b"name: a\x07b",
    "an escaped control character": INTENT + b'name: "a\\u0000b"',
    "half a million items": b"a: [" + b"1," * 500_000 + b"]",
    "a million of nothing": b"- " * 1_000_000,
    "a very long key": b"? " + b"k" * 1_000_000 + b"\n: v",
    "only anchors": b"".join(b"- &a%d\n" % n for n in range(50_000)),
    "a file too large": b"#" * (8 * 1024 * 1024 + 1),
    "a merge of a text": b"a: {<<: text}",
    "a directive": b"%YAML 9.9\n---\na: b",
}


@pytest.mark.deep
@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_soon(name):
    with bounded(SOON):
        reading = parse_registry(HOSTILE[name])
    assert not reading.report.valid
    assert reading.values is None


@pytest.mark.deep
@pytest.mark.parametrize("name", HOSTILE)
def test_a_lenient_read_is_no_softer_on_attacks(name):
    with bounded(SOON):
        reading = parse_registry(HOSTILE[name], lenient=True)
    assert not reading.report.valid or "control character" in name


def test_the_line_of_an_undecodable_byte_is_told():
    (problem,) = parse_registry(INTENT + b"name: \xff").report.errors
    assert (problem.type, problem.line) == ("YAML_PARSE_ERROR", 5)


def test_modest_aliases_and_merges_are_fine():
    data = b"""
shared: &shared [src/**]
base: &base {owner: ada, owned_scope: *shared}
active_intents:
- {<<: *base, id: INT-001, status: PENDING, owner: rex}
- {<<: [*base], id: INT-002, status: PENDING}
"""
    intents = parse_registry(data).values.intents
    assert [(values.owner, values.owned_scope) for values in intents] == [
        ("rex", ("src/**",)),
        ("ada", ("src/**",)),
    ]


def test_json_is_read_with_its_own_escapes():
    data = b'{"active_intents": [{"id": "INT-001", "name": "\\ud83d\\ude00 \\\\ud83d", "status": "PENDING", "owned_scope": ["a"]}]}'
    assert parse_registry(data).values.intents[0].name == "\U0001f600 \\ud83d"


def test_a_byte_order_mark_is_no_text():
    assert parse_registry(b"\xef\xbb\xbf" + INTENT).report.valid


def scopes(count, patterns):
    """A valid file of intents in progress with the scopes that `patterns` makes of their numbers."""
    documents = [
        {"id": f"INT-{n:03}", "status": "IN_PROGRESS", "owned_scope": patterns(n), "constraints": ["c"],
         "acceptance_criteria": ["a"]}
        for n in range(1, count + 1)
    ]  # fmt: skip
    return json.dumps({"active_intents": documents}).encode()


@pytest.mark.deep
@pytest.mark.parametrize(
    "patterns",
    [
        lambda n: ["**"],
        lambda n: ["a/**", "!a/**", f"b{n}/**"],
        lambda n: [f"**/a*b{n}*/**/c*/**", "!**/*c*", f"!*{n}/**"],
    ],
    ids=["everything", "exclusions", "many wildcards"],
)
def test_scopes_that_are_costly_to_compare_are_compared_in_part(patterns):
    with bounded(SOON):
        report = parse_registry(scopes(500, patterns)).report
    assert report.valid
    assert report.warnings[-1].type == "LARGE_FILE"
    assert len(report.warnings) <= 2_001


@pytest.mark.deep
def test_braces_cannot_multiply_without_end():
    with bounded(SOON):
        report = parse_registry(scopes(300, lambda n: ["{a,b}" * 8 + str(n)])).report
    assert "patterns with braces" in report.errors[0].message


def test_a_thousand_intents_are_quick():
    many = b"active_intents:\n" + b"".join(
        b"- id: INT-%03d\n  name: N\n  status: IN_PROGRESS\n  owned_scope: [src/m%d/**, docs/m%d.md]\n"
        b"  constraints: [c]\n  acceptance_criteria: [a]\n" % (n, n, n)
        for n in range(1, 1_002)
    )
    with bounded(SOON):
        report = parse_registry(many).report
    assert [problem.type for problem in report.warnings] == ["LARGE_FILE"]
