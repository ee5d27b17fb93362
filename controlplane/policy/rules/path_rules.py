"""What a workspace and an intent say about one path: protected, ignored, in scope or not (step 6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from controlplane.policy.globs.intentignore import IgnoreRules
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import ErrorType, Reason, Snapshot, Target
from controlplane.policy.paths.canonical import fold_case
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.resolve import names_of

# The reasons for which a target is refused, the weightiest first.
OUTSIDE = (ErrorType.SCOPE_VIOLATION, Reason.OUTSIDE_WORKSPACE)
PROTECTED = (ErrorType.SCOPE_VIOLATION, Reason.PROTECTED_PATH)
IGNORED = (ErrorType.INTENTIGNORE_PATH_BLOCKED, Reason.INTENTIGNORE)
EMPTY_SCOPE = (ErrorType.SCOPE_VIOLATION, Reason.EMPTY_SCOPE)
NOT_IN_SCOPE = (ErrorType.SCOPE_VIOLATION, Reason.NOT_IN_SCOPE)

DenialCode = tuple[ErrorType, Reason]

_WEIGHTIEST = (PROTECTED, IGNORED, EMPTY_SCOPE, NOT_IN_SCOPE)

# Removing or moving a folder, or changing all modes in it, touches what is in it now.
_TOUCHES_CONTENT = frozenset({"delete", "move", "mode"})
_NOTHING_ARRIVES = frozenset({"delete", "mode"})
# A file or link that takes a folder's place, or a folder that goes, decides over all below it.
_REPLACES = frozenset({"write", "delete", "move", "link"})
_MAY_BE_FOLDER = frozenset({"delete", "move", "mode", "read", "folder"})


@dataclass(frozen=True, slots=True)
class PathRules:
    """A snapshot's patterns, compiled. `scope` is None where none applies: no intent is selected, or an
    empty scope allows everything."""

    scope: Scope | None
    protected: Scope
    above_protected: frozenset[str]  # folded names of folders in which something is protected
    ignore: IgnoreRules
    folded_ignore: IgnoreRules | None
    no_scope_at_all: bool

    def is_protected(self, path: str) -> bool:
        """Whether a path is protected, or is the very folder whose content is. A scope that names the
        path without wildcards opens it."""
        return self.protected.matches(path) and not (
            self.scope is not None and self.scope.names_exactly(path)
        )

    def holds_protected(self, folder: str) -> bool:
        """Whether something below a folder is protected by name."""
        return fold_case(folder) in self.above_protected

    def holds_ignored(self, folder: str) -> bool:
        """Whether a line of `.intentignore` is about something below a folder, by name."""
        folded = self.folded_ignore
        return self.ignore.names_below(folder) or (
            folded is not None and folded.names_below(fold_case(folder))
        )

    def ignored_by(self, path: str, *, is_dir: bool) -> str | None:
        """The line of `.intentignore` that holds a path off, or None."""
        line = self.ignore.find_rule(path, is_dir=is_dir)
        if line is None and self.folded_ignore is not None:
            line = self.folded_ignore.find_rule(fold_case(path), is_dir=is_dir)
        return line


def compile_rules(snapshot: Snapshot) -> PathRules:
    """The rules of a snapshot; compiled once for each policy, scope and ignore file."""
    policy, intent = snapshot.policy, snapshot.intent
    scope = intent.owned_scope if intent is not None else None
    if scope == () and policy.empty_scope == "allow":
        scope = None
    return _compiled(scope, policy.protected_paths, policy.case_insensitive_paths, snapshot.intentignore)


@lru_cache(maxsize=1024)
def _compiled(
    owned: tuple[str, ...] | None, protected: tuple[str, ...], ignore_case: bool, intentignore: str
) -> PathRules:
    scope = None if owned is None else Scope.from_patterns(owned, case_insensitive=ignore_case)
    folders = tuple(pattern.removesuffix("/**") for pattern in protected if pattern.endswith("/**"))
    return PathRules(
        scope=scope,
        protected=Scope.from_patterns((*protected, *folders), case_insensitive=True),
        above_protected=frozenset(name for pattern in protected for name in _literal_folders(pattern)),
        ignore=IgnoreRules.parse(intentignore),
        folded_ignore=IgnoreRules.parse(fold_case(intentignore)) if ignore_case else None,
        no_scope_at_all=scope is not None and scope.is_empty,
    )


def _literal_folders(pattern: str) -> Iterator[str]:
    """The folders, folded, that a pattern names before its first wildcard, the workspace itself first; an
    exclusion names none."""
    if pattern.startswith("!"):
        return
    yield ""
    cut = min((pattern.find(char) for char in "*?[{\\" if char in pattern), default=len(pattern))
    segments = fold_case(pattern[:cut]).split("/")
    for count in range(1, len(segments)):
        yield "/".join(segments[:count])


def find_write_objection(
    target: Target, rules: PathRules, world: Filesystem
) -> tuple[DenialCode, tuple[str, ...]] | None:
    """The weightiest objection to changing a target, with the names it is about; None if there is none."""
    found = dict.fromkeys(_objections(target, rules, world))
    if not found:
        return None
    ground = min((ground for _, ground in found), key=_WEIGHTIEST.index)
    return ground, tuple(name for name, own in found if own == ground)


def _objections(target: Target, rules: PathRules, world: Filesystem) -> Iterator[tuple[str, DenialCode]]:
    may_be_folder = target.op in _MAY_BE_FOLDER
    is_dir = may_be_folder and (target.op == "folder" or _is_dir(target, world) is not False)
    for name in names_of(target):
        ground = _of_name(name, rules, is_dir=is_dir)
        takes = target.recursive or target.op in _REPLACES
        if ground is None and takes and rules.holds_protected(name):
            ground = PROTECTED
        if ground is None and _takes_all(target, world) and rules.holds_ignored(name):
            ground = IGNORED
        if ground is not None:
            yield name or ".", ground
        if target.recursive or (target.op in _TOUCHES_CONTENT and _is_dir(target, world)):
            yield from _below(name, target, rules, world)


def _takes_all(target: Target, world: Filesystem) -> bool:
    """Whether a target is changed with all below it, and nobody can look through what that is."""
    if not (target.recursive or target.op in {"delete", "move"}):
        return False
    is_dir = _is_dir(target, world)
    known = is_dir and target.op in _TOUCHES_CONTENT and world.list_files(target.path) is not None
    return not known and (is_dir is not False or target.recursive)


def _of_name(name: str, rules: PathRules, *, is_dir: bool) -> DenialCode | None:
    if rules.is_protected(name):
        return PROTECTED
    if name and rules.ignored_by(name, is_dir=is_dir) is not None:
        return IGNORED
    if rules.scope is None or (name and rules.scope.matches(name)):
        return None
    return EMPTY_SCOPE if rules.no_scope_at_all else NOT_IN_SCOPE


def _below(
    name: str, target: Target, rules: PathRules, world: Filesystem
) -> Iterator[tuple[str, DenialCode]]:
    """Objections to what lies below a folder. What is there now is looked at one by one; what may come
    there, and what nobody knows, must be in scope whatever its name."""
    is_dir = _is_dir(target, world)
    if not name or (is_dir is False and target.op in _NOTHING_ARRIVES):
        return
    known = world.list_files(name) if is_dir and target.op in _TOUCHES_CONTENT else None
    if known is None:
        if rules.scope is not None and not rules.scope.covers_below(name):
            yield name, NOT_IN_SCOPE
        return
    for path in known:
        ground = _of_name(path, rules, is_dir=False)
        if ground is not None:
            yield path, ground


def _is_dir(target: Target, world: Filesystem) -> bool | None:
    return world.is_dir(target.path if target.physical is None else target.physical)


def find_ignored_name(target: Target, rules: PathRules, world: Filesystem) -> str | None:
    """The name under which a file that is read is ignored; None when it may be read."""
    is_dir = _is_dir(target, world) is not False
    names = (name for name in names_of(target) if name)
    return next((name for name in names if rules.ignored_by(name, is_dir=is_dir) is not None), None)


def nearest_pattern(path: str, rules: PathRules) -> str | None:
    return rules.scope.nearest(path) if rules.scope is not None else None
