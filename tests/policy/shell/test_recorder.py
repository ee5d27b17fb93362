"""Parts, verdicts and spans of the record, and the limits of what it holds."""

from __future__ import annotations

import pytest

from controlplane.policy.shell import analyse


@pytest.mark.parametrize(
    ("command", "verdicts"),
    [
        ("ls; touch a", ["reads", "writes"]),
        ("rm a | mv b c", ["deletes", "moves"]),
        ("chmod +x a && ln a b", ["writes", "writes"]),
        ("make; foo $x; sort --frob", ["runs", "runs", "unknown"]),
        ("echo $(rm a)", ["unknown", "deletes"]),
        ("echo a > b", ["writes"]),
        ("for f in a b; do ls; done", ["reads"]),
        ("[ a > b ]", ["writes"]),
    ],
)
def test_every_simple_command_is_a_part(command, verdicts):
    assert [part.verdict for part in analyse(command).parts] == verdicts


def test_spans_count_code_points():
    command = "echo 'é日' > ü.txt; rm naïve"
    analysis = analyse(command)
    assert [command[path.start : path.end] for path in analysis.writes] == ["ü.txt", "naïve"]
    assert [command[part.start : part.end] for part in analysis.parts] == ["echo 'é日'", "rm naïve"]


def test_an_unknown_marks_its_word():
    command = 'touch a; rm "$x" b'
    (unknown,) = analyse(command).unknown
    assert command[unknown.start : unknown.end] == unknown.text == '"$x"'


def test_too_many_paths_are_unknown():
    command = "touch " + " ".join(f"f{number}" for number in range(1_001)) + "; ls"
    assert analyse(command).unknown


def test_too_many_links_are_not_followed():
    assert analyse("".join(f"ln -s a b{number}; " for number in range(41))).unknown
