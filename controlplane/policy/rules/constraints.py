"""Structured constraints of an intent: mappings with a known `type`, checked on what a call would write.

A constraint that is text, or of another type, is guidance for the agent and never a reason to
refuse. Each type is one row of `CHECKS`; its fields are in the docstring of its function. Every
one takes an optional `scope`, a glob or a list of globs: the files that it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
_MAX_TOLD = 10  # dependency files, and libraries of each, that an answer names


@dataclass(frozen=True, slots=True)
class ConstraintViolation:
    """A constraint that a call would break. `kind` is its type, which the answer gives as reason."""

    kind: str
    text: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConstraintCheck:
    """What a check looks at: its own constraint, the files of the call that it is about, all files of
    the call, and what is known of the rest."""

    constraint: Mapping[str, Any]
    about: Sequence[FileChange]
    every: Sequence[FileChange]
    world: Filesystem
    ignore_case: bool = False

    def fits(self, patterns: Any, path: str) -> bool:
        """Whether a path matches one pattern or a list of them, as the workspace compares paths."""
        return Scope.from_patterns(tuple(_patterns(patterns)), case_insensitive=self.ignore_case).matches(
            path
        )

    def concerns(self, path: str) -> bool:
        scope = self.constraint.get("scope")
        return scope is None or self.fits(scope, path)

    def broken(self, paths: Iterable[str], what: str) -> Iterator[ConstraintViolation]:
        """One breach for all the paths; none without a path."""
        found = tuple(dict.fromkeys(paths))
        if found:
            note = self.constraint.get("message")
            text = f"Constraint Violation: [{', '.join(found)}] {what}{f' ({note})' if note else ''}."
            yield ConstraintViolation(
                self.constraint["type"], f"{text} Change the call so that it meets the constraint.", found
            )


def find_violations(
    constraints: Iterable[Any], written: Sequence[FileChange], world: Filesystem, *, ignore_case: bool = False
) -> Iterator[ConstraintViolation]:
    """Every structured constraint that the call would break. One that cannot be read is broken by every
    change it could be about."""
    for constraint in constraints:
        if not is_structured(constraint):
            continue
        given = ConstraintCheck(constraint, written, written, world, ignore_case)
        wrong = find_problem(constraint)
        if wrong:
            yield from given.broken(
                (w.path for w in written), f"cannot be checked: {wrong} Ask a person to repair it"
            )
            continue
        about = [w for w in written if given.concerns(w.path)]
        yield from CHECKS[constraint["type"]].check(replace(given, about=about))


def is_structured(constraint: Any) -> bool:
    kind = constraint.get("type") if isinstance(constraint, Mapping) else None
    return isinstance(kind, str) and kind in CHECKS


def find_problem(constraint: Mapping[str, Any]) -> str | None:
    """What is wrong with a structured constraint, as a sentence; None when it can be checked."""
    check = CHECKS[constraint["type"]]
    for field in ("scope", *check.globs):
        if field in constraint and (wrong := _glob_problem(constraint[field])):
            return f"`{field}`: {wrong}"
    return next((f"`{f}`: {why}" for f, why in check.wrong(constraint)), None)


# --- the checks --------------------------------------------------------------------------------


def _forbid_pattern(given: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`pattern`: a regular expression (RE2) that no written text may hold. What an edit leaves as it
    was is not its doing. For a shell command the command stands for the text."""
    pattern = _regex(given.constraint["pattern"])
    hits = (w.path for w in given.about if _adds(pattern, w, given.world))
    yield from given.broken(
        hits, f"would hold what matches `{given.constraint['pattern']}`, which the intent forbids"
    )


def _adds(pattern: Any, written: FileChange, world: Filesystem) -> bool:
    return any(_has_more(pattern, before, now) for before, now in written.list_text_pairs(world))


@lru_cache(maxsize=4)
def _has_more(pattern: Any, before: str, now: str) -> bool:
    """Whether a text holds more matches than the one before. RE2 is given bytes, so that it need not count
    characters, nor trip over half ones. Remembered, because a call may bring one text to many files."""
    if before == now:
        return False
    there = sum(1 for _ in pattern.finditer(before.encode("utf-8", "replace")))
    return next(islice(pattern.finditer(now.encode("utf-8", "replace")), there, None), None) is not None


def _max_file_lines(given: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`max_lines`: of a file that is written; of one that is edited, where its text is known."""
    most = given.constraint["max_lines"]
    long = (w.path for w in given.about if w.count_lines(given.world) > most)
    yield from given.broken(long, f"would be longer than {most} lines")


def _max_files_changed(given: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`max_files`: that the session may change under this intent, this call included."""
    most = given.constraint["max_files"]
    before = {path for path in given.world.list_session_changes() if given.concerns(path)}
    now = before.union(*(w.list_files(given.world) for w in given.about))
    if len(now) > most:
        new = (w.path for w in given.about if w.path not in before)
        yield from given.broken(new, f"would make {len(now)} changed files, and the intent allows {most}")


def _require_file(given: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`file`: a glob; a change of files in `scope` needs a change of such a file, before or with it. A
    folder is no file, wherever it is made, and another mode is no change that was needed."""
    needed = given.constraint["file"]
    changed = (w.path for w in given.every if w.op not in {"folder", "mode"})
    done = {*given.world.list_session_changes(), *changed}
    if not any(given.fits(needed, path) for path in done):
        files = (w.path for w in given.about if w.op != "folder")
        yield from given.broken(files, f"may change only together with [{needed}]")


def _library_version(given: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """`library` with `version` (this version or one that begins with it) or `min_version`: what a
    dependency file may ask for."""
    rule = given.constraint
    wanted = rule.get("version") or f"at least {rule['min_version']}"
    wrong = (w.path for w in given.about if _asks_wrongly(rule, w, given.world))
    yield from given.broken(
        wrong, f"asks for another version of {rule['library']} than the intent does: {wanted}"
    )


def _asks_wrongly(rule: Mapping[str, Any], written: FileChange, world: Filesystem) -> bool:
    """Of a file that is known as a whole, only what the call changes in it counts."""
    change = written.find_full_texts(world)
    if change is None:
        return dependencies.has_wrong_version(
            rule, written.path, written.after or "", whole=written.is_full_text
        )
    old, new = (dependencies.list_versions(rule, written.path, text) for text in change)
    return new != old and dependencies.has_wrong_version(rule, written.path, change[1], whole=True)


def _no_new_dependency(given: ConstraintCheck) -> Iterator[ConstraintViolation]:
    """No dependency file may name what it did not name before."""
    manifests = (written for written in given.about if dependencies.is_manifest(written.path))
    yield from islice((breach for each in manifests for breach in _new_names(given, each)), _MAX_TOLD)


def _new_names(given: ConstraintCheck, written: FileChange) -> Iterator[ConstraintViolation]:
    if written.op == "delete":
        return
    change = written.find_full_texts(given.world)
    if change is None and (written.is_full_text or written.after is None):
        why = "lists dependencies; change it with an edit, so that what is new can be seen"
        yield from given.broken([written.path], why)
        return
    sides = change or (written.before, written.after or "")
    new = dependencies.find_new_libraries(written.path, *sides, whole=change is not None)
    if new:
        told = ", ".join(map(to_printable, sorted(new)[:_MAX_TOLD])) + ", …" * (len(new) > _MAX_TOLD)
        yield from given.broken(
            [written.path], f"would add the dependency {told}, and the intent allows no new one"
        )


# --- what each type needs ----------------------------------------------------------------------

Wrong = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ConstraintType:
    """How a type is checked, and which of its fields are wrong, each with the reason."""

    check: Callable[[ConstraintCheck], Iterator[ConstraintViolation]]
    wrong: Callable[[Mapping[str, Any]], Wrong]
    globs: tuple[str, ...] = ()


def _needs_pattern(constraint: Mapping[str, Any]) -> Wrong:
    pattern = constraint.get("pattern")
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_PATTERN:
        yield "pattern", f"must be a string of 1 to {MAX_PATTERN} characters."
    elif _regex(pattern) is None:
        yield "pattern", "is not a valid RE2 regular expression."


def _needs_number(field: str) -> Callable[[Mapping[str, Any]], Wrong]:
    def wrong(constraint: Mapping[str, Any]) -> Wrong:
        value = constraint.get(field)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            yield field, "must be an integer, 0 or more."

    return wrong


def _needs_file(constraint: Mapping[str, Any]) -> Wrong:
    if "file" not in constraint:
        yield "file", "must be a glob: the file that has to change too."


def _needs_version(constraint: Mapping[str, Any]) -> Wrong:
    if not isinstance(constraint.get("library"), str) or not constraint["library"]:
        yield "library", "must be the name of a library."
    versions = [constraint[field] for field in ("version", "min_version") if field in constraint]
    if len(versions) != 1 or not dependencies.is_version(versions[0]):
        yield "version", "give one of `version` and `min_version`, as a string like 5.2."


def _needs_nothing(constraint: Mapping[str, Any]) -> Wrong:  # noqa: ARG001  one signature for all checks
    return iter(())


CHECKS: Mapping[str, ConstraintType] = {
    "forbid_pattern": ConstraintType(_forbid_pattern, _needs_pattern),
    "max_file_lines": ConstraintType(_max_file_lines, _needs_number("max_lines")),
    "max_files_changed": ConstraintType(_max_files_changed, _needs_number("max_files")),
    "require_file": ConstraintType(_require_file, _needs_file, globs=("file",)),
    "library_version": ConstraintType(_library_version, _needs_version),
    "no_new_dependency": ConstraintType(_no_new_dependency, _needs_nothing),
}


@lru_cache(maxsize=1024)
def _regex(pattern: str) -> Any:
    """The compiled expression, or None; RE2 matches in linear time whatever the pattern."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def _patterns(scope: Any) -> list[Any]:
    return scope if isinstance(scope, list) else [scope]


def _glob_problem(value: Any) -> str | None:
    patterns = _patterns(value)
    if not patterns:
        return "an empty list matches nothing."
    found = next(filter(None, map(globs.find_problem, patterns)), None)
    return found.message if found else None
