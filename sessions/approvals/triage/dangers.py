"""Find what makes a held call dangerous whoever owns its files: secrets, deletions, CI, hooks and the like.

The rules are built in, so that a workspace without any settings sorts its queue by them. They decide
nothing: they raise the reach of an approval and name it on the row and on the card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.policy.globs.intentignore import IgnoreRules
from controlplane.policy.globs.scope import Scope
from controlplane.shared.starters.starter import PIPELINES, SECRETS

MAX_PATHS = 200  # of one call that are looked at


@dataclass(frozen=True, slots=True)
class Danger:
    """`severity` sorts the queue within a reach: 2 before 1."""

    name: str
    reason: str
    severity: int
    patterns: tuple[str, ...] = ()


SECRETS_DANGER = Danger("secrets", "secrets", 2)
DELETES = Danger("deletes", "deletes files", 2)
BY_PATH = (
    Danger("ci", "CI configuration", 1, tuple(name for name in PIPELINES if "pre-commit" not in name)),
    Danger(
        "hooks",
        "runs automatically on commits",
        1,
        (
            "**/.git/hooks/**", "**/.husky/**", "**/.githooks/**", "**/.pre-commit-config.yaml",
            "**/lefthook.{yml,yaml}", "**/.lefthook.{yml,yaml}", "**/lefthook-local.yml",
        ),
    ),
    Danger(
        "migration",
        "database migration",
        1,
        (
            "**/migrations/**", "**/migrate/**", "**/alembic/versions/**", "**/flyway/**",
            "**/liquibase/**", "**/changelog/db.*",
        ),
    ),
    Danger(
        "lock_file",
        "lock file of dependencies",
        1,
        (
            "**/package-lock.json", "**/npm-shrinkwrap.json", "**/yarn.lock", "**/pnpm-lock.yaml",
            "**/bun.lock", "**/bun.lockb", "**/poetry.lock", "**/uv.lock", "**/pdm.lock",
            "**/Pipfile.lock", "**/Cargo.lock",
            "**/go.sum", "**/Gemfile.lock", "**/composer.lock", "**/mix.lock", "**/pubspec.lock",
            "**/packages.lock.json", "**/flake.lock", "**/gradle.lockfile", "**/Podfile.lock",
            "**/Package.resolved", "**/.terraform.lock.hcl",
        ),
    ),
)  # fmt: skip
BY_EFFECT: Mapping[str, Danger] = {
    "sends": Danger("outward", "changes something elsewhere", 1),
    "installs": Danger("installs", "installs dependencies", 1),
    "discards": DELETES,
}
ALL_DANGERS = {danger.name: danger for danger in (SECRETS_DANGER, DELETES, *BY_PATH, *BY_EFFECT.values())}
_SECRET_RULES = IgnoreRules.parse("\n".join(SECRETS))
_SCOPES = tuple((danger, Scope.from_patterns(danger.patterns, case_insensitive=True)) for danger in BY_PATH)


def find_dangers(call: Mapping[str, Any]) -> list[Danger]:
    """Return the dangers of a stored call, the gravest first."""
    targets = call.get("targets") or []
    paths = [*(call.get("offending") or []), *(target["path"] for target in targets)][:MAX_PATHS]
    found = {danger.name: danger for danger in _find_by_path(paths)}
    if any(target.get("op") == "delete" or target.get("recursive") for target in targets):
        found[DELETES.name] = DELETES
    for effect in call.get("effects") or ():
        danger = BY_EFFECT.get(effect.get("effect", ""))
        if danger is not None:
            found[danger.name] = danger
    return sorted(found.values(), key=lambda danger: (-danger.severity, danger.name))


def _find_by_path(paths: Iterable[str]) -> Iterable[Danger]:
    for path in paths:
        if _SECRET_RULES.find_rule(path.lower()) is not None:
            yield SECRETS_DANGER
        yield from (danger for danger, scope in _SCOPES if scope.matches(path))
