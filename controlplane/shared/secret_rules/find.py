"""Find the secrets of a text: the places that the rules name, united."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import re2

from controlplane.shared.secret_rules import forms, gitleaks, private_keys
from controlplane.shared.secret_rules.assignments import assignment_rules
from controlplane.shared.secret_rules.rule import Rule, Span

MAX_MATCHES = 2_000  # of one rule in one text


class SecretRules:
    """All rules, and one automaton that finds which of their hints a text holds, in a single pass."""

    def __init__(self, rules: list[Rule]) -> None:
        by_hint: dict[str, list[Rule]] = {}
        for rule in rules:
            for hint in rule.hints:
                by_hint.setdefault(hint, []).append(rule)
        self._by_hint = [(hint, tuple(named)) for hint, named in by_hint.items()]
        self.hints = tuple(by_hint)
        self._hints = re2.Set.SearchSet()
        for hint, _ in self._by_hint:
            self._hints.Add(re2.escape(hint))
        self._hints.Compile()

    def find_candidates(self, lowered: str) -> dict[str, Rule]:
        """Return the rules of which the text holds a hint, by name."""
        found: list[int] = self._hints.Match(lowered) or []
        return {rule.name: rule for index in found for rule in self._by_hint[index][1]}


@cache
def rule_set() -> SecretRules:
    """Return the rules, compiled on first use: most commands mask nothing."""
    return SecretRules([*gitleaks.load_rules(), *assignment_rules(), *forms.load_rules()])


def find_secrets(text: str) -> list[Span]:
    """Return the places of secrets in the encoded text, in order and without overlaps."""
    lowered = text.lower()
    candidates = rule_set().find_candidates(lowered)
    has_key = private_keys.HINT in lowered
    if not candidates and not has_key:
        return []
    encoded = text.encode("utf-8", "surrogatepass")
    spans = list(private_keys.find_private_keys(encoded)) if has_key else []
    for rule in candidates.values():
        spans += _find(rule, encoded)
    return unite(spans)


def _find(rule: Rule, encoded: bytes) -> Iterator[Span]:
    """Yield what a rule finds. A text with thousands of matches is masked from there on, not read on."""
    for number, match in enumerate(rule.pattern.finditer(encoded)):
        if number == MAX_MATCHES:
            yield match.start(), len(encoded)
            return
        span = rule.find_span(match)
        if span is not None:
            yield span


def unite(spans: list[Span]) -> list[Span]:
    """Return spans in order, with those that overlap made one."""
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united
