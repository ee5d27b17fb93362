"""Known forms of secrets are masked, ordinary code is not."""

from __future__ import annotations

import pytest

from controlplane.shared.masking import MASK, MAX_TEXT_LENGTH, cut_text, is_cut, mask_text, to_storable
from tests.workload import bounded

SECRETS = {
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "aws": "AKIA" + "A1" * 8,
    "github": "ghp_" + "a1B2" * 9,
    "github fine": "github_pat_" + "a1" * 20,
    "gitlab": "glpat-" + "a1" * 12,
    "slack": "xoxb-" + "1234567890-abc",
    "model": "sk-ant-" + "a1" * 20,
    "google": "AIza" + "a" * 35,
    "stripe": "sk_live_" + "a1" * 12,
    "npm": "npm_" + "a" * 36,
    "pypi": "pypi-" + "a" * 60,
    "ours": "icp_" + "a" * 43,
    "jwt": "eyJ" + "a" * 20 + ".eyJ" + "b" * 20 + "." + "c" * 20,
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_is_masked_wherever_it_stands(secret):
    masked = mask_text(f"const value = '{secret}';\n")
    assert secret not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    ("text", "kept", "gone"),
    [
        ("password = 'hunter2hunter2'", "password", "hunter2hunter2"),
        ('{"api_key": "abcdefgh1234"}', "api_key", "abcdefgh1234"),
        ("DB_PASSWORD=correcthorse", "DB_PASSWORD", "correcthorse"),
        ("Authorization: Bearer abcdefghijklmnop1234", "Bearer", "abcdefghijklmnop1234"),
        ("postgres://icp:s3cretpw@db/icp", "postgres://icp:", "s3cretpw"),
    ],
)
def test_what_a_secret_is_called_stays(text, kept, gone):
    masked = mask_text(text)
    assert kept in masked
    assert gone not in masked


@pytest.mark.parametrize(
    "code", ["const token = nextToken();", "export const keys = Object.keys(x);", "see https://example.com/a"]
)
def test_ordinary_code_is_left_alone(code):
    assert mask_text(code) == code


def test_long_texts_are_cut_and_say_so():
    cut = cut_text("x" * (MAX_TEXT_LENGTH + 5))
    assert is_cut(cut)
    assert "5 more characters" in cut
    assert not is_cut("short")


def test_every_text_of_a_value_is_masked():
    value = {"a": [SECRETS["aws"], 1, None, True], "b": {"c": SECRETS["npm"]}}
    assert to_storable(value) == {"a": [MASK, 1, None, True], "b": {"c": MASK}}


@pytest.mark.parametrize("piece", ["password=", "eyJ", "a://b:", "-----BEGIN A", "bearer ", "sk-"])
def test_no_text_makes_masking_slow(piece):
    with bounded(500):
        mask_text(piece * (200_000 // len(piece)))


def test_a_number_that_readers_do_not_agree_on_is_kept_as_text():
    assert to_storable([2**53 - 1, 2**53, -(2**60), 1e300, 0.5, True, None, float("inf"), float("nan")]) == [
        2**53 - 1, str(2**53), str(-(2**60)), 1e300, 0.5, True, None, "inf", "nan",
    ]  # fmt: skip
