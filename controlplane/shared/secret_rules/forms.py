"""Read our own rules: secrets that their form betrays, and those that commands and addresses carry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import re2

from controlplane.shared.secret_rules.names import is_harmless
from controlplane.shared.secret_rules.rule import Rule, Span, compile_pattern

FILE = Path(__file__).with_name("forms.toml")
MIN_SHORT, MIN_DIGITS = 20, 2
MIN_WORD = 16  # letters: "basic authentication" is no credential
_WORDS = re.compile(rb"[a-z]+(?:[._-][a-z]+)*")  # `icp_gate_seconds` is no token
ARGUMENTS = r"(?:\s[^\n|;&]*?)?\s(?:[^\n|;&]*?\s)?"


def load_rules() -> list[Rule]:
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return [_prefix_rule(**document["prefixes"]), *map(_to_rule, document["rules"])]


def _to_rule(rule: dict[str, Any]) -> Rule:
    pattern = rule.get("regex") or rf"\b(?:{rule['programs']}){ARGUMENTS}{rule['option']}"
    return Rule(rule["id"], tuple(rule["hints"]), compile_pattern(pattern), CHECKS[rule.get("check", "")])


def _prefix_rule(sure: list[str], short: list[str]) -> Rule:
    """Build one rule for all prefixes: the longest that fits counts."""
    prefixes = sorted({*sure, *short}, key=len, reverse=True)
    words = "|".join(re2.escape(prefix) for prefix in prefixes)
    pattern = rf"(?:^|[^A-Za-z0-9_])(?P<secret>(?P<prefix>{words})[A-Za-z0-9_\-.~+/=]{{10,}})"
    doubtful = frozenset(prefix.encode() for prefix in short)

    def find_span(match: Any) -> Span | None:
        rest = match[b"secret"][len(match[b"prefix"]) :]
        digits = sum(b"0"[0] <= char <= b"9"[0] for char in rest)
        is_long = len(rest) >= MIN_SHORT and digits >= MIN_DIGITS and b"/" not in rest
        is_token = is_long if match[b"prefix"] in doubtful else not _WORDS.fullmatch(rest)
        return span_of_value(match) if is_token else None

    hints = tuple(sorted({prefix.lower() for prefix in prefixes}))
    return Rule("prefix", hints, compile_pattern(pattern), find_span)


def span_of_value(match: Any) -> Span | None:
    """Return the span of the group `secret`, unless a placeholder stands there."""
    span: Span = match.span(match.re.groupindex[b"secret"])
    return None if is_harmless(match[b"secret"].decode("utf-8", "replace")) else span


def _credentials(match: Any) -> Span | None:
    secret = match[b"secret"]
    return None if secret.isalpha() and len(secret) < MIN_WORD else span_of_value(match)


def _openssl(match: Any) -> Span | None:
    is_source = match[b"secret"].startswith((b"file:", b"env:", b"fd:", b"stdin"))
    return None if is_source else span_of_value(match)


def _mixed(match: Any) -> Span | None:
    """No word: it holds digits, or letters of both cases."""
    secret = match[b"secret"]
    is_word = secret.isalpha() and (secret.islower() or secret.isupper() or secret.istitle())
    return None if is_word else span_of_value(match)


CHECKS = {"": span_of_value, "mixed": _mixed, "credentials": _credentials, "openssl": _openssl}
