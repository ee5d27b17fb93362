"""Check an intent's structured constraints, mappings with a known `type`, on what a call would write.

A constraint that is text, or of another type, is guidance for the agent and never a reason to deny.
Each type is one row of `CONSTRAINT_TYPES`; its fields are in the docstring of its function. Every type
takes an optional `files` (also read: `scope`), a glob or a list of globs: the files that it is about.
`docs/constraints.md` is the page for people; its examples are tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any

import re2

from controlplane.policy.calls.edit_result import FileChange
from controlplane.policy.globs import parse as globs
from controlplane.policy.globs.scope import Scope
from controlplane.policy.paths.canonical import to_printable
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.rules import dependencies

MAX_PATTERN = 1000  # characters of a regular expression
_MAX_PLAIN_WORDS = 2  # a `code_pattern` of more words without a sign of expressions is a sentence
_EXPRESSION_SIGNS = frozenset("\\[](){}*+?|^$")
_MAX_NAMED = 10  # dependency files, and libraries in each, that an answer names


@dataclass(frozen=True, slots=True)
class ConstraintViolation:
    """A constraint that a call would break. `kind` is its type, which the answer gives as reason."""

    kind: str
    text: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConstraintCheck:
    """One constraint, its fields under their own names, with what it is checked on: the changes of the call
    to its files, all changes of the call, and the other files."""

    constraint: Mapping[str, Any]
    changes: Sequence[FileChange]
    all_changes: Sequence[FileChange]
    filesystem: Filesystem
    ignore_case: bool = False

    def matches(self, patterns: Any, path: str) -> bool:
        """Return whether a path matches one pattern or a list of them, as the workspace compares paths."""
        scope = Scope.from_patterns(tuple(_to_list(patterns)), case_insensitive=self.ignore_case)
        return scope.matches(path)

    def is_in_scope(self, path: str) -> bool:
        files = self.constraint.get("files")
        return files is None or self.matches(files, path)

    def report(self, paths: Iterable[str], description: str) -> Iterator[ConstraintViolation]:
        """Yield one violation for all the paths; none without a path."""
        offending = tuple(dict.fromkeys(paths))
        if offending:
            message = self.constraint.get("message")
            note = f" ({message})" if message else ""
            text = (
                f"Constraint Violation: [{', '.join(offending)}] {description}{note}."
                " Change the call so that it meets the constraint."
            )
            yield ConstraintViolation(self.constraint["type"], text, offending)


def find_violations(
    constraints: Iterable[Any],
    changes: Sequence[FileChange],
    filesystem: Filesystem,
    *,
    ignore_case: bool = False,
) -> Iterator[ConstraintViolation]:
    """Yield every structured constraint that the call would break.

    One that is invalid is broken by every change that it could be about.
    """
    for constraint in constraints:
        if not is_structured(constraint):
            continue
        fields = resolve_field_aliases(constraint)
        check = ConstraintCheck(fields, changes, changes, filesystem, ignore_case)
        problem = find_problem(constraint)
        if problem:
            yield from check.report(
                (change.path for change in changes),
                f"cannot be checked: {problem} Ask a person to repair it",
            )
            continue
        concerned = [change for change in changes if check.is_in_scope(change.path)]
        yield from CONSTRAINT_TYPES[constraint["type"]].check(replace(check, changes=concerned))


def is_structured(constraint: Any) -> bool:
    """Return whether the gate checks a constraint: it has a known type and is no sentence."""
    kind = constraint.get("type") if isinstance(constraint, Mapping) else None
    return isinstance(kind, str) and kind in CONSTRAINT_TYPES and not _is_prose_pattern(constraint)


def find_problem(constraint: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a structured constraint, as a sentence; None when it can be checked."""
    constraint_type = CONSTRAINT_TYPES[constraint["type"]]
    aliases = constraint_type.aliases
    for alias in aliases:
        twice = [name for name in constraint if name == aliases[alias] or aliases.get(name) == aliases[alias]]
        if len(twice) > 1:
            return f"`{twice[1]}`: give only one of {', '.join(f'`{name}`' for name in twice)}."
    for name, value in constraint.items():
        is_glob = aliases.get(name, name) in {"files", *constraint_type.globs}
        if is_glob and (problem := _find_glob_problem(value)):
            return f"`{name}`: {problem}"
    fields = resolve_field_aliases(constraint)
    return next((f"`{field}`: {text}" for field, text in constraint_type.list_problems(fields)), None)


def find_reason_unchecked(constraint: Any) -> str | None:
    """Return why the gate does not check a mapping with a type, as a sentence; None where it does, and for
    text, which claims nothing."""
    if not isinstance(constraint, Mapping) or is_structured(constraint):
        return None
    kind = constraint.get("type")
    if isinstance(kind, str) and kind in CONSTRAINT_TYPES:
        return (
            f"The pattern of {kind!r} is a sentence, no regular expression: agents are told, and the gate"
            " does not check it. Give a regular expression, such as console\\.log."
        )
    return (
        f"The constraint type {kind!r} is unknown: it is kept and agents are told, and the gate does not"
        f" check it. Known types: {', '.join(CONSTRAINT_TYPES)}."
    )


def resolve_field_aliases(constraint: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a structured constraint with the fields that are also read under their own names."""
    aliases = CONSTRAINT_TYPES[constraint["type"]].aliases
    if aliases.keys().isdisjoint(constraint):
        return constraint
    return {aliases.get(name, name): value for name, value in constraint.items()}


def _is_prose_pattern(constraint: Mapping[str, Any]) -> bool:
    """Return whether a `code_pattern` is a sentence, such as "No console.log in production code".

    Every sentence compiles, and as an expression it would match nothing that it forbids.
    """
    pattern = constraint.get("pattern")
    if constraint["type"] != "code_pattern" or not isinstance(pattern, str):
        return False
    text = pattern.replace("()", "").rstrip(".?!")
    return len(text.split()) > _MAX_PLAIN_WORDS and not _EXPRESSION_SIGNS.intersection(text)


# --- the checks --------------------------------------------------------------------------------


def _check_forbid_pattern(check: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`pattern`: a regular expression (RE2) that no written text may match.

    Matches that were there before do not count. For a shell command the command stands for the text.
    """
    pattern = _compile(check.constraint["pattern"])
    paths = (change.path for change in check.changes if _adds_match(pattern, change, check.filesystem))
    yield from check.report(
        paths, f"would hold what matches `{check.constraint['pattern']}`, which the intent forbids"
    )


def _adds_match(pattern: Any, change: FileChange, filesystem: Filesystem) -> bool:
    return any(
        _has_more_matches(pattern, before, after) for before, after in change.list_text_pairs(filesystem)
    )


@lru_cache(maxsize=4)
def _has_more_matches(pattern: Any, before: str, after: str) -> bool:
    """Return whether a text holds more matches than the one before.

    Cached, because a call may write one text to many files.
    """
    if before == after:
        return False
    # As bytes: RE2 then need not map offsets to characters, and lone surrogates do not fail it.
    count = sum(1 for _ in pattern.finditer(before.encode("utf-8", "replace")))
    return next(islice(pattern.finditer(after.encode("utf-8", "replace")), count, None), None) is not None


def _check_max_file_lines(check: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`max_lines` of a file that is written; of one that is edited, where its text is known."""
    limit = check.constraint["max_lines"]
    paths = (change.path for change in check.changes if change.count_lines(check.filesystem) > limit)
    yield from check.report(paths, f"would be longer than {limit} lines")


def _check_max_files_changed(check: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`max_files` that the session may change under this intent, this call included."""
    limit = check.constraint["max_files"]
    before = {path for path in check.filesystem.list_session_changes() if check.is_in_scope(path)}
    after = before.union(*(change.list_files(check.filesystem) for change in check.changes))
    if len(after) > limit:
        paths = (change.path for change in check.changes if change.path not in before)
        yield from check.report(
            paths, f"would make {len(after)} changed files, and the intent allows {limit}"
        )


def _check_require_file(check: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`needs`: a glob; a change of files in `when` needs a change of such a file, before or with it.

    A new directory is no file, and another mode is no such change.
    """
    required = check.constraint["needs"]
    changed = (change.path for change in check.all_changes if change.op not in {"folder", "mode"})
    all_changed = {*check.filesystem.list_session_changes(), *changed}
    if not any(check.matches(required, path) for path in all_changed):
        paths = (change.path for change in check.changes if change.op != "folder")
        yield from check.report(paths, f"may change only together with [{required}]")


def _check_library_version(check: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`library` with `version` (this version or one that begins with it) or `min_version`: what a dependency
    file may require."""
    rule = check.constraint
    required = rule.get("version") or f"at least {rule['min_version']}"
    paths = (
        change.path for change in check.changes if _requires_wrong_version(rule, change, check.filesystem)
    )
    yield from check.report(
        paths, f"requires another version of {rule['library']} than the intent allows: {required}"
    )


def _requires_wrong_version(rule: Mapping[str, Any], change: FileChange, filesystem: Filesystem) -> bool:
    """Where the full file is known, only what the call changes in it counts."""
    texts = change.find_full_texts(filesystem)
    if texts is None:
        return dependencies.has_wrong_version(
            rule, change.path, change.after or "", is_full_text=change.is_full_text
        )
    old, new = (dependencies.list_versions(rule, change.path, text) for text in texts)
    return new != old and dependencies.has_wrong_version(rule, change.path, texts[1], is_full_text=True)


def _check_no_new_dependency(check: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """No dependency file may name a library that it did not name before."""
    manifests = (change for change in check.changes if dependencies.is_manifest(change.path))
    violations = (violation for each in manifests for violation in _find_new_dependencies(check, each))
    yield from islice(violations, _MAX_NAMED)


def _find_new_dependencies(check: ConstraintCheck, change: FileChange) -> Iterator[ConstraintViolation]:
    if change.op == "delete":
        return
    texts = change.find_full_texts(check.filesystem)
    # A full text without the old one, or an unknown text: nobody can tell which libraries are new.
    if texts is None and (change.is_full_text or change.after is None):
        description = "lists dependencies; change it with an edit, so that what is new can be seen"
        yield from check.report([change.path], description)
        return
    old, new = texts or (change.before, change.after or "")
    added = dependencies.find_new_libraries(change.path, old, new, is_full_text=texts is not None)
    if added:
        names = ", ".join(map(to_printable, sorted(added)[:_MAX_NAMED])) + ", …" * (len(added) > _MAX_NAMED)
        yield from check.report(
            [change.path], f"would add the dependency {names}, and the intent allows no new one"
        )


# --- the fields of each type -------------------------------------------------------------------

Problems = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ConstraintType:
    """How a type is checked, and how its fields are validated: (field, what is wrong) for each problem.

    `globs` are fields with patterns beside `files`, `aliases` other names that fields are read by.
    """

    check: Callable[[ConstraintCheck], Iterator[ConstraintViolation]]
    list_problems: Callable[[Mapping[str, Any]], Problems]
    globs: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=lambda: {"scope": "files"})


def _validate_pattern(constraint: Mapping[str, Any]) -> Problems:
    pattern = constraint.get("pattern")
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_PATTERN:
        yield "pattern", f"must be a string of 1 to {MAX_PATTERN} characters."
    elif _compile(pattern) is None:
        yield "pattern", "is not a valid RE2 regular expression."


def _validate_number(field: str) -> Callable[[Mapping[str, Any]], Problems]:
    def validate(constraint: Mapping[str, Any]) -> Problems:
        value = constraint.get(field)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            yield field, "must be an integer, 0 or more."

    return validate


def _validate_file(constraint: Mapping[str, Any]) -> Problems:
    if "needs" not in constraint:
        yield "needs", "must be a glob: the file that has to change too."


def _validate_version(constraint: Mapping[str, Any]) -> Problems:
    if not isinstance(constraint.get("library"), str) or not constraint["library"]:
        yield "library", "must be the name of a library."
    versions = [constraint[field] for field in ("version", "min_version") if field in constraint]
    if len(versions) != 1 or not dependencies.is_version(versions[0]):
        yield "version", "give one of `version` and `min_version`, as a string like 5.2."


def _validate_nothing(constraint: Mapping[str, Any]) -> Problems:  # noqa: ARG001  one signature for all checks
    return iter(())


CONSTRAINT_TYPES: Mapping[str, ConstraintType] = {
    "forbid_pattern": ConstraintType(_check_forbid_pattern, _validate_pattern),
    "max_file_lines": ConstraintType(_check_max_file_lines, _validate_number("max_lines")),
    "max_files_changed": ConstraintType(_check_max_files_changed, _validate_number("max_files")),
    "require_file": ConstraintType(
        _check_require_file,
        _validate_file,
        globs=("needs",),
        aliases={"when": "files", "scope": "files", "file": "needs"},
    ),
    "library_version": ConstraintType(_check_library_version, _validate_version),
    "no_new_dependency": ConstraintType(_check_no_new_dependency, _validate_nothing),
    "file_size": ConstraintType(_check_max_file_lines, _validate_number("max_lines")),
    "code_pattern": ConstraintType(_check_forbid_pattern, _validate_pattern),
}


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> Any:
    """The compiled expression, or None; RE2 matches in linear time whatever the pattern."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def _to_list(scope: Any) -> list[Any]:
    return scope if isinstance(scope, list) else [scope]


def _find_glob_problem(value: Any) -> str | None:
    patterns = _to_list(value)
    if not patterns:
        return "an empty list matches nothing."
    problem = next(filter(None, map(globs.find_problem, patterns)), None)
    return problem.message if problem else None
