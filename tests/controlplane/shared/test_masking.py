"""Known forms of secrets are masked, ordinary code is not."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from controlplane.shared.masking import MASK, MAX_TEXT_LENGTH, cut_text, is_cut, mask_text, to_storable
from controlplane.shared.secret_rules.find import rule_set
from tests.workload import bounded

FORMS = json.loads((Path(__file__).parents[2] / "data/secrets/forms.json").read_text(encoding="utf-8"))
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


@pytest.mark.parametrize("form", FORMS["secrets"], ids=lambda form: form["id"])
def test_every_form_of_a_credential_is_masked(form):
    masked = mask_text(form["text"])
    assert form["gone"] not in masked
    assert MASK in masked


@pytest.mark.parametrize("form", FORMS["secrets"], ids=lambda form: form["id"])
def test_a_credential_is_masked_in_the_middle_of_a_file(form):
    masked = mask_text(f"first line\n{form['text']}\nlast line ü\n")
    assert form["gone"] not in masked
    assert masked.startswith("first line\n")
    assert masked.endswith("last line ü\n")


@pytest.mark.parametrize("text", FORMS["plain"])
def test_what_only_speaks_of_secrets_is_left_alone(text):
    assert mask_text(text) == text


@pytest.mark.parametrize("form", FORMS["secrets"], ids=lambda form: form["id"])
def test_masking_twice_changes_nothing(form):
    once = mask_text(form["text"])
    assert mask_text(once) == once


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"password": "abc"}, {"password": MASK}),
        ({"env": {"GITHUB_TOKEN": "abcdef"}}, {"env": {"GITHUB_TOKEN": MASK}}),
        ({"headers": {"Authorization": "Basic YTpi", "Cookie": "a=b"}}, {"headers": {"Authorization": MASK, "Cookie": MASK}}),
        ({"name": "API_TOKEN", "value": "abc"}, {"name": "API_TOKEN", "value": MASK}),
        (["curl", "-u", "ada:hunter2", "x"], ["curl", "-u", MASK, "x"]),
        (["mysql", "-phunter2", "shop"], ["mysql", f"-p{MASK}", "shop"]),
        (["tool", "--api-key", "abc", "--verbose"], ["tool", "--api-key", MASK, "--verbose"]),
        ({"cache_key": "user:1", "token": "$TOKEN"}, {"cache_key": "user:1", "token": "$TOKEN"}),
        ({"tokens": 12, "session_id": "s-1", "key": "v"}, {"tokens": 12, "session_id": "s-1", "key": "v"}),
        (["git", "commit", "-m", "a"], ["git", "commit", "-m", "a"]),
    ],
)  # fmt: skip
def test_values_are_masked_by_their_names_and_by_the_command_they_belong_to(value, masked):
    assert to_storable(value) == masked


def test_what_holds_thousands_of_values_is_masked_as_one_text():
    stored = to_storable({"rows": ["password: hunter22"] * 6_000})
    assert list(stored) == ["too_many_values"]
    assert "hunter22" not in stored["too_many_values"]
    assert to_storable(stored) == stored


def test_a_text_with_thousands_of_matches_is_masked_to_its_end():
    text = "password: hunter22\n" * 3_000 + "the end"
    masked = mask_text(text)
    assert "hunter22" not in masked
    assert "the end" not in masked


# Each makes some rule begin again and again without coming to an end.
PIECES = [
    "password=", "eyJ", "a://b:", "-----BEGIN A", "-----BEGIN A PRIVATE KEY-----", "-----END A PRIVATE KEY-----", "bearer ",
    "sk-", "curl -u ", "mysql -p", "://", "a:", 'password: "', 'token="\\"', "X-Api-Key: ", "cookie: a=", "echo a | ",
    "<password>", "A_KEY=", "--password ", "-p", "secret_key_", "_token", "login a password ", "http -a", '\\\\\\"', "curl ",
    "$2$", "ghp_", "identified by 'a", "adafruit=", "heroku=", "echo a |" + "b" * 50, "Private-Lines: 1", "'", "https://a:",
]  # fmt: skip


def hints() -> str:
    return " ".join(rule_set().hints) + "\n"


@pytest.mark.parametrize("piece", [*PIECES, hints()], ids=lambda piece: piece[:20])
def test_no_text_makes_masking_slow(piece):
    """The longest text costs no more than a few hundred ordinary ones of the same length in pieces."""
    with bounded(60):
        mask_text(piece * (MAX_TEXT_LENGTH // len(piece)))


@pytest.mark.deep
@pytest.mark.parametrize("piece", [*PIECES, hints()], ids=lambda piece: piece[:20])
def test_masking_is_linear(piece):
    def cost(length: int) -> float:
        text = piece * (length // len(piece))
        began = time.thread_time()
        mask_text(text)
        return time.thread_time() - began

    cost(20_000)
    small = min(cost(20_000) for _ in range(3))
    assert min(cost(200_000) for _ in range(2)) < 40 * max(small, 0.0005)


def test_a_number_that_readers_do_not_agree_on_is_kept_as_text():
    assert to_storable([2**53 - 1, 2**53, -(2**60), 1e300, 0.5, True, None, float("inf"), float("nan")]) == [
        2**53 - 1, str(2**53), str(-(2**60)), 1e300, 0.5, True, None, "inf", "nan",
    ]  # fmt: skip
