"""What a workspace and an intent say about one path: protected, ignored, in scope or not (step 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from controlplane.policy.globs.ignored_patterns import find_matching_line, find_named_line
from controlplane.policy.globs.intentignore import IgnoreRuleSet
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import ErrorType, Reason, Snapshot, Target
from controlplane.policy.paths.canonical import fold_case
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.raw_path import PatternUse
from controlplane.policy.rules.protected_files import (
    ALWAYS_PROTECTED,
    ANYWHERE,
    DECIDING_FILES,
    OWN_FILES,
)

DenialCode = tuple[ErrorType, Reason]

OUTSIDE: DenialCode = (ErrorType.SCOPE_VIOLATION, Reason.OUTSIDE_WORKSPACE)
PROTECTED: DenialCode = (ErrorType.SCOPE_VIOLATION, Reason.PROTECTED_PATH)
IGNORED: DenialCode = (ErrorType.INTENTIGNORE_PATH_BLOCKED, Reason.INTENTIGNORE)
EMPTY_SCOPE: DenialCode = (ErrorType.SCOPE_VIOLATION, Reason.EMPTY_SCOPE)
NOT_IN_SCOPE: DenialCode = (ErrorType.SCOPE_VIOLATION, Reason.NOT_IN_SCOPE)

_BY_SEVERITY = (PROTECTED, IGNORED, EMPTY_SCOPE, NOT_IN_SCOPE)

# Removing or moving a directory, or changing all modes in it, touches what is in it now.
_TOUCHES_CONTENT = frozenset({"delete", "move", "mode"})
_CREATES_NOTHING = frozenset({"delete", "mode"})
# A file or link that replaces a directory, or a directory that goes, decides about all below it.
_REPLACES = frozenset({"write", "delete", "move", "link"})
_MAY_BE_DIRECTORY = frozenset({"delete", "move", "mode", "read", "folder"})


@dataclass(frozen=True, slots=True)
class PathRules:
    """A snapshot's patterns, compiled. `scope` is None where none applies: no intent is selected, or an
    empty scope allows everything."""

    scope: Scope | None
    protected: Scope
    protected_parents: frozenset[str]  # folded names of directories in which something is protected
    ignore: IgnoreRuleSet
    ignores_case: bool
    folded_ignore: IgnoreRuleSet | None
    has_empty_scope: bool

    def is_protected(self, path: str) -> bool:
        """Return whether a path is protected, or is the directory whose content is.

        A scope that names the path without wildcards opens it.
        """
        is_protected = self.protected.matches(path) or _is_always_protected(path)
        return is_protected and not (self.scope is not None and self.scope.names_exactly(path))

    def runs_by_git(self, path: str, programs: tuple[str, ...], *, with_parents: bool) -> bool:
        """Return whether git runs this path or what is below it; `with_parents`, above it too."""
        if self.scope is not None and self.scope.names_exactly(path):
            return False
        return any(
            f"{path}/".startswith(f"{program}/") or (with_parents and program.startswith(f"{path}/"))
            for program in programs
        )

    def protects_outside(self, path: str) -> bool:
        """Return whether a path outside the workspace decides what an agent may do: `x/.git/config`."""
        return _OUTSIDE.matches(path)

    def has_protected_below(self, directory: str) -> bool:
        """Return whether something below a directory is protected by name."""
        return fold_case(directory) in self.protected_parents

    def has_ignored_below(self, directory: str) -> bool:
        """Return whether a line of `.intentignore` names something below a directory."""
        normalized = self.folded_ignore
        return self.ignore.names_below(directory) or (
            normalized is not None and normalized.names_below(fold_case(directory))
        )

    def find_ignore_line(self, path: str, *, is_dir: bool) -> str | None:
        """Return the line of `.intentignore` that matches a path, or None."""
        line = self.ignore.find_rule(path, is_dir=is_dir)
        if line is None and self.folded_ignore is not None:
            line = self.folded_ignore.find_rule(fold_case(path), is_dir=is_dir)
        return line

    def find_ignored_pattern(self, pattern: str, use: PatternUse) -> str | None:
        """Return the line that ignores some of the files which a canonical pattern stands for, or None."""
        if use in {PatternUse.CONTENT, PatternUse.COPY}:
            # To look through all of a workspace is known to reach such files; a copy of it would keep them.
            counts = pattern != "" or use is PatternUse.COPY
            return pattern or "." if counts and self.has_ignored_below(pattern) else None
        find = find_matching_line if use is PatternUse.WILDCARD else find_named_line
        lines = (find(pattern, rules.text, ignore_case=self.ignores_case) for rules in self.ignore.files)
        return next(filter(None, lines), None)

    def find_nearest_pattern(self, path: str) -> str | None:
        return self.scope.nearest(path) if self.scope is not None else None


def _list_directories(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the directories whose content patterns match: each could be replaced with another."""
    return tuple(pattern.removesuffix("/**") for pattern in patterns if pattern.endswith("/**"))


_ALWAYS = (*OWN_FILES, *ANYWHERE)
_ALWAYS_SCOPE = Scope.from_patterns((*_ALWAYS, *_list_directories(_ALWAYS)), case_insensitive=True)
# The first names of what is always protected: most paths have none of them, which is cheap to see.
_ALWAYS_NAMES = frozenset(
    fold_case(pattern.removeprefix("**/").split("/")[0]) for pattern in (*OWN_FILES, *ANYWHERE)
)


def _is_always_protected(path: str) -> bool:
    named = not _ALWAYS_NAMES.isdisjoint(fold_case(path).split("/"))
    return named and _ALWAYS_SCOPE.matches(path)


# In a place, an agent's own folder holds plans and memory too: only what decides is protected there.
_OUTSIDE = Scope.from_patterns(
    tuple(f"**/{pattern}" for pattern in (*DECIDING_FILES, *_list_directories(DECIDING_FILES))),
    case_insensitive=True,
)


def compile_rules(snapshot: Snapshot, *, on_windows: bool = False) -> PathRules:
    """Return the rules of a snapshot; compiled once for each policy, scope and ignore file.

    On Windows no case saves a file from `.intentignore`: `.ENV` is `.env` there. The policy adds to what is
    always protected, and takes nothing away.
    """
    policy, intent = snapshot.policy, snapshot.intent
    owned_scope = intent.owned_scope if intent is not None else None
    if owned_scope == () and policy.empty_scope == "allow":
        owned_scope = None
    ignore_case = policy.case_insensitive_paths
    ignore_files = (snapshot.intentignore, *snapshot.ignore_files)
    return _compile(
        owned_scope, policy.protected_paths, ignore_files, (ignore_case, ignore_case or on_windows)
    )


@lru_cache(maxsize=1024)
def _compile(
    owned_scope: tuple[str, ...] | None,
    protected: tuple[str, ...],
    ignore_files: tuple[str, ...],
    folds: tuple[bool, bool],
) -> PathRules:
    ignore_case, folds_ignored = folds
    scope = None if owned_scope is None else Scope.from_patterns(owned_scope, case_insensitive=ignore_case)
    directories = _list_directories(protected)
    return PathRules(
        scope=scope,
        # Without case everywhere: on macOS and Windows `.GIT` is the directory `.git`.
        protected=Scope.from_patterns((*protected, *directories), case_insensitive=True),
        protected_parents=frozenset(name for pattern in protected for name in _list_parents(pattern))
        | _ALWAYS_PARENTS,
        ignore=IgnoreRuleSet.parse(ignore_files),
        ignores_case=folds_ignored,
        folded_ignore=IgnoreRuleSet.parse(map(fold_case, ignore_files)) if folds_ignored else None,
        has_empty_scope=scope is not None and scope.is_empty,
    )


def _list_parents(pattern: str) -> Iterator[str]:
    """Yield the directories, folded, that a pattern names before its first wildcard, the workspace itself
    first; an exclusion names none."""
    if pattern.startswith("!"):
        return
    yield ""
    end = min((pattern.find(char) for char in "*?[{\\" if char in pattern), default=len(pattern))
    segments = fold_case(pattern[:end]).split("/")
    for count in range(1, len(segments)):
        yield "/".join(segments[:count])


_ALWAYS_PARENTS = frozenset(name for pattern in ALWAYS_PROTECTED for name in _list_parents(pattern))


def find_write_objection(
    target: Target, rules: PathRules, filesystem: Filesystem, programs: tuple[str, ...] = ()
) -> tuple[DenialCode, tuple[str, ...]] | None:
    """Return the most severe objection to changing a target, with the names it is about, or None.

    `programs` are the paths that git runs by the repository's own settings (`find_programs`).
    """
    objections = dict.fromkeys(_list_objections(target, rules, filesystem, programs))
    if not objections:
        return None
    reported = min((code for _, code in objections), key=_BY_SEVERITY.index)
    return reported, tuple(name for name, code in objections if code == reported)


def _list_objections(
    target: Target, rules: PathRules, filesystem: Filesystem, programs: tuple[str, ...]
) -> Iterator[tuple[str, DenialCode]]:
    # A line `build/` of .intentignore is about directories only; what may be one counts as one.
    is_dir = target.op in _MAY_BE_DIRECTORY and (
        target.op == "folder" or _is_dir(target, filesystem) is not False
    )
    for name in target.names:
        code = _check_name(name, rules, is_dir=is_dir)
        replaces = target.recursive or target.op in _REPLACES
        if code is not PROTECTED and rules.runs_by_git(name, programs, with_parents=replaces):
            code = PROTECTED
        if code is None and replaces and rules.has_protected_below(name):
            code = PROTECTED
        if code is None and _changes_unknown_content(target, filesystem) and rules.has_ignored_below(name):
            code = IGNORED
        if code is not None:
            yield name or ".", code
        if target.recursive or (target.op in _TOUCHES_CONTENT and _is_dir(target, filesystem)):
            yield from _check_below(name, target, rules, filesystem)


def _changes_unknown_content(target: Target, filesystem: Filesystem) -> bool:
    """Return whether a target is changed with all below it, and nobody can list what that is."""
    if not (target.recursive or target.op in {"delete", "move"}):
        return False
    is_dir = _is_dir(target, filesystem)
    is_listed = is_dir and target.op in _TOUCHES_CONTENT and filesystem.list_files(target.path) is not None
    return not is_listed and (is_dir is not False or target.recursive)


def _check_name(name: str, rules: PathRules, *, is_dir: bool) -> DenialCode | None:
    if rules.is_protected(name):
        return PROTECTED
    if name and rules.find_ignore_line(name, is_dir=is_dir) is not None:
        return IGNORED
    if rules.scope is None or (name and rules.scope.matches(name)):
        return None
    return EMPTY_SCOPE if rules.has_empty_scope else NOT_IN_SCOPE


def _check_below(
    name: str, target: Target, rules: PathRules, filesystem: Filesystem
) -> Iterator[tuple[str, DenialCode]]:
    """Yield objections to what lies below a directory.

    What is there now is checked file by file. What the call may bring there, and what nobody knows, must
    be in scope whatever its name.
    """
    is_dir = _is_dir(target, filesystem)
    if not name or (is_dir is False and target.op in _CREATES_NOTHING):
        return
    files = filesystem.list_files(name) if is_dir and target.op in _TOUCHES_CONTENT else None
    if files is None:
        if rules.scope is not None and not rules.scope.covers_below(name):
            yield name, NOT_IN_SCOPE
        return
    for path in files:
        code = _check_name(path, rules, is_dir=False)
        if code is not None:
            yield path, code


def _is_dir(target: Target, filesystem: Filesystem) -> bool | None:
    return filesystem.is_dir(target.physical_path)


def find_ignored_name(target: Target, rules: PathRules, filesystem: Filesystem) -> str | None:
    """Return the name under which a file that is read is ignored; None when it may be read."""
    is_dir = _is_dir(target, filesystem) is not False
    names = (name for name in target.names if name)
    return next((name for name in names if rules.find_ignore_line(name, is_dir=is_dir) is not None), None)
