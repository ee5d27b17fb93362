"""Read the rules of gitleaks (MIT, see LICENSE.gitleaks) from its own file, kept as it is published.

To update them copy `config/gitleaks.toml` of a release here and run the tests. The patterns are RE2, as here,
so each is linear in the text.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import re2

from controlplane.shared.secret_rules.rule import Rule, compile_pattern

FILE = Path(__file__).with_name("gitleaks.toml")
# Its guess about any word beside "key" hides ordinary code: `assignments` has rules of its own for those.
LEFT_OUT = frozenset({"generic-api-key"})
# These find by a name nearby, not by a prefix of the secret's own, so what they find must look random.
CONTEXT_START = r"(?i)[\w.-]{0,50}?"
LOOSE = frozenset({"vault-service-token"})


def load_rules() -> list[Rule]:
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return [
        _to_rule(rule)
        for rule in document["rules"]
        # A rule with a path speaks of one kind of file, and a call's text names none.
        if "regex" in rule and "path" not in rule and rule["id"] not in LEFT_OUT
    ]


def _to_rule(rule: dict[str, Any]) -> Rule:
    needs_entropy = rule["regex"].startswith(CONTEXT_START) or rule["id"] in LOOSE
    min_entropy = float(rule.get("entropy", 0)) if needs_entropy else 0.0
    group = int(rule.get("secretGroup", 0))

    def find_span(match: re2._Match) -> tuple[int, int] | None:
        span = match.span(group) if group else _first_group(match)
        secret = match.string[span[0] : span[1]]
        return span if not min_entropy or entropy(secret) > min_entropy else None

    hints = tuple(word.lower() for word in rule.get("keywords", ()))
    return Rule(rule["id"], hints, compile_pattern(rule["regex"]), find_span)


def _first_group(match: re2._Match) -> tuple[int, int]:
    """Return the span of the first group that took part, as gitleaks does; of the match without one."""
    spans = (match.span(number) for number in range(1, match.re.groups + 1))
    found: tuple[int, int] = next((span for span in spans if span[1] > span[0] >= 0), match.span())
    return found


def entropy(secret: bytes) -> float:
    """Return Shannon's entropy in bits a character."""
    counts = Counter(secret).values()
    return -sum(count / len(secret) * math.log2(count / len(secret)) for count in counts)
