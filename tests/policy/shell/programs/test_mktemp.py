"""A new file of the temporary folder is known by its template."""

from __future__ import annotations

import pytest

from tests.policy.shell.answers import reasons, writes


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("mktemp", ["/tmp/tmp.XXXXXXXXXX"]),
        ("mktemp -d", ["/tmp/tmp.XXXXXXXXXX"]),
        ("mktemp -t a.XXXX", ["/tmp/a.XXXX"]),
        ("mktemp -p /var/tmp a.XXXX", ["/var/tmp/a.XXXX"]),
        ("mktemp docs/aXXX", ["docs/aXXX"]),
        ("f=$(mktemp); echo x > $f", ["/tmp/tmp.XXXXXXXXXX"] * 2),
        ('f=$(mktemp).md; echo x > "$f"', ["/tmp/tmp.XXXXXXXXXX", "/tmp/tmp.XXXXXXXXXX.md"]),
        ("d=$(mktemp -d /tmp/b-XXXXXX); touch $d/a", ["/tmp/b-XXXXXX", "/tmp/b-XXXXXX/a"]),
        ("cp a $(mktemp '/tmp/c.XXXXXX.md')", ["/tmp/c.XXXXXX.md"]),
    ],
)
def test_a_new_name_is_known(command, written):
    assert [raw for _, raw in writes(command)] == written
    assert reasons(command) == []


@pytest.mark.parametrize(
    "command",
    [
        "mktemp a b",
        "mktemp abc",
        "mktemp -p $x",
        'mktemp -p "$x"',
        "mktemp -u",
        "f=$(mktemp docs/XXX); echo > $f",
    ],
)
def test_other_names_are_not(command):
    assert reasons(command)
