"""What makes a call dangerous whoever owns its files."""

from __future__ import annotations

import pytest

from sessions.approvals.triage.dangers import find_dangers


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (".env", ["secrets"]),
        ("deploy/.env.production", ["secrets"]),
        (".env.example", []),
        ("certs/server.PEM", ["secrets"]),
        (".github/workflows/ci.yml", ["ci"]),
        ("Jenkinsfile", ["ci"]),
        (".husky/pre-commit", ["hooks"]),
        (".pre-commit-config.yaml", ["hooks"]),
        ("db/migrate/20260101_users.rb", ["migration"]),
        ("app/migrations/0042_coupons.py", ["migration"]),
        ("web/package-lock.json", ["lock_file"]),
        ("go.sum", ["lock_file"]),
        ("src/a.ts", []),
        ("docs/migrations.md", []),
    ],
)
def test_a_path_says_it(path, names):
    call = {"targets": [{"path": path, "op": "write", "recursive": False}]}
    assert [danger.name for danger in find_dangers(call)] == names
    assert [danger.name for danger in find_dangers({"offending": [path]})] == names


def test_the_gravest_comes_first_and_effects_count():
    call = {
        "targets": [{"path": "go.sum", "op": "delete", "recursive": False}],
        "effects": [{"effect": "sends"}, {"effect": "installs"}, {"effect": "reads"}],
    }
    assert [danger.name for danger in find_dangers(call)] == ["deletes", "installs", "lock_file", "outward"]


def test_a_call_without_files_has_none():
    assert find_dangers({}) == []
