"""Find kind and effect of a command in the table; what no row covers has no kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from controlplane.policy.effects import Effect
from controlplane.policy.shell.command_kinds.option_reader import OptionReader
from controlplane.policy.shell.command_kinds.scripts import OUTWARD, find_script
from controlplane.policy.shell.command_kinds.special import find_special
from controlplane.policy.shell.command_kinds.words import (
    Arguments,
    CommandKind,
    is_inner_path,
    is_plain,
)
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.table.row import ADDRESS, FLAG, OUTPUT, PATH, READ, REMOTE, TEXT, TableRow
from controlplane.policy.shell.word import Word

ALIASES = {"python3": "python", "pip3": "pip", "tmux-list": "tmux", "docker-compose": "docker compose"}
LOCAL_FOLDERS = re.compile(
    r"(?:\./)?(?:\.?venv/bin|node_modules/\.bin|vendor/bin|bin)/|\./(?=gradlew|mvnw|manage)"
)
PROTECTED_BRANCH = re.compile(
    r"(?:.*:)?(?:refs/heads/)?(?:main|master|trunk|production|prod|release(?:[/-].*)?)"
)
# Not `ext::…`, which is a command, and no path: another repository on this machine.
REMOTE_ADDRESS = re.compile(r"(?:https?://|ssh://|git@)[\w.@:/~+-]+")
MAX_WRAPPED = 4
MAX_SUBCOMMANDS = 3
HELP_OPTIONS = frozenset({"--help", "--version"})
# What a dangerous form of a command does: `git tag -d`, `make deploy`.
FORM_EFFECTS = {Effect.RECORDS: Effect.DISCARDS, Effect.RUNS_PROJECT: Effect.SENDS}


def classify(name: str, args: Sequence[Word], root: str, *, is_known: bool) -> CommandKind | None:
    """Return what a command is; None where nobody can tell.

    `is_known`: the program is in one of the tables, so that an unknown use of it has no kind.
    """
    if not name.strip() or name in load_table().words["builtins"]:
        return None
    outer = texts = Arguments(_normalize(name), tuple(args), root)
    for _ in range(MAX_WRAPPED):
        inner = _unwrap(_skip_options(texts))
        if inner is None:
            break
        texts = inner
    found = find_special(texts) or _find_row(texts) or find_script(texts) or find_script(_skip_options(texts))
    if found is None and texts is not outer and outer.program in load_table().words["downloaders"]:
        return _find_downloaded(outer, texts)
    if found is None or not found.kind:
        found = _find_help(_skip_options(texts)) or found
    return found or (None if is_known else _find_unknown(texts))


def _find_help(texts: Arguments) -> CommandKind | None:
    """Return the kind of a program that is only asked for its help or version: `gh --version`.

    At worst it takes its release or plug-ins from the workspace, as tests and builds do.
    """
    *words, last = [word.value or "" for word in texts.words] or [""]
    asks = last in HELP_OPTIONS or (
        last == "version" and not words and texts.program not in load_table().words["downloaders"]
    )
    is_plain = all(re.fullmatch(r"[a-z][\w-]*", word) for word in words) and len(words) <= MAX_SUBCOMMANDS
    if not (asks and is_plain) or not re.fullmatch(r"[\w.+-]+", texts.program):
        return None
    if texts.program in load_table().words["runs_anything"] and not (
        texts.program == "git" and _is_git_command(words)
    ):
        return None
    return CommandKind(f"{texts.program} help", Effect.RUNS_PROJECT, "prints its help or its version")


def _is_git_command(words: Sequence[str]) -> bool:
    """Return whether git itself takes the `--help` behind these words: `git bisect run x --help` runs x."""
    return len(words) == 1 or any(row.words == ("git", *words) for row in load_table().kinds["git"])


def _find_downloaded(outer: Arguments, inner: Arguments) -> CommandKind:
    """Return the kind of a package that is fetched and run: `npx cowsay`."""
    reason = f"{outer.program} may download {inner.program[:40]} and run it"
    is_name = re.fullmatch(r"(?:@[\w.-]+/)?[\w.-]+", inner.program) is not None
    kind = f"{outer.program} {inner.program}" if is_name and inner.are_generic() else ""
    return CommandKind(kind, Effect.INSTALLS, reason)


def _normalize(name: str) -> str:
    """Return the program behind `.venv/bin/pytest`, `./gradlew` or `python3.12`."""
    plain = LOCAL_FOLDERS.sub("", name, count=1) if LOCAL_FOLDERS.match(name) else name
    if re.fullmatch(r"python3\.\d+", plain):
        return "python"
    return ALIASES.get(plain, plain)


def _unwrap(texts: Arguments) -> Arguments | None:
    """Return the command that a wrapper runs; None where this is no wrapper, or it has unknown options."""
    for row in load_table().launchers.values():
        if texts.starts_with(row.words):
            rest = list(texts.words[len(row.words) - 1 :])
            while rest and rest[0].value in row.options:
                rest.pop(0)
            if not rest or not rest[0].value or rest[0].value.startswith("-"):
                return None
            return Arguments(_normalize(rest[0].value), tuple(rest[1:]), texts.root)
    return None


def _find_row(texts: Arguments) -> CommandKind | None:
    texts = _skip_options(texts)
    for row in load_table().kinds.get(texts.program.split()[0], ()):
        words = row.words
        if texts.starts_with(words):
            return _apply(row, texts.words[len(words) - len(texts.program.split()) :], texts)
    return None


def _skip_options(texts: Arguments) -> Arguments:
    """Leave out harmless options in front of the subcommand."""
    row = load_table().before.get(texts.program)
    rest = list(texts.words)
    while row and rest and rest[0].value:
        name, equals, value = rest[0].value.partition("=")
        role = row.options.get(name)
        if role is None:
            break
        taken = 1 if role == FLAG or equals else 2
        argument = value if equals else (rest[1].value if len(rest) > 1 else None)
        if role == PATH and not is_inner_path(argument, texts.root):
            break
        rest = rest[taken:]
    return Arguments(texts.program, tuple(rest), texts.root)


def _apply(row: TableRow, words: Sequence[Word], texts: Arguments) -> CommandKind:
    """Return the row's kind where all arguments are ones that it covers, else a finding without a kind."""
    reader = OptionReader(row, list(words), texts.root)
    operands = reader.read_all()
    problem = reader.problem or _check_operands(row, operands, texts.root)
    if problem:
        return CommandKind("", Effect.UNKNOWN, problem)
    writes = (*reader.outputs, *(operands if reader.writes_operands else ()))
    inputs = (*reader.inputs, *(operands if READ in row.operands else ()))
    forms = tuple(dict.fromkeys((*reader.forms, *_find_operand_forms(row, operands))))
    if not forms:
        return CommandKind(row.name, row.effect, row.why, writes, inputs)
    effect = FORM_EFFECTS.get(row.effect, row.effect)
    return CommandKind(" ".join((row.name, *forms)), effect, f"{row.why}: {' '.join(forms)}", writes, inputs)


def _check_operands(row: TableRow, operands: Sequence[Word], root: str) -> str:
    for index, word in enumerate(operands):
        if index >= len(row.operands) and not row.repeats:
            return f"{row.name} with more arguments than are known"
        role, value = row.operands[min(index, len(row.operands) - 1)], word.value or ""
        is_package = row.words[0] == "go" and "." in value.split("/")[0].strip(".")  # github.com/x/y@latest
        if role in {PATH, OUTPUT} and (is_package or not is_inner_path(value, root)):
            return f"{row.name} names a path outside of the workspace"
        if role == ADDRESS and not REMOTE_ADDRESS.fullmatch(value):
            return f"{row.name} with an address that is not plain"
        if role == REMOTE and not re.fullmatch(r"[\w][\w.-]*", value):
            return f"{row.name} names another repository than a remote"
        if not is_plain(value) or (role == TEXT and row.effect is Effect.RUNS_PROJECT and "=" in value):
            return f"{row.name} with an argument that is not plain"
    return ""


def _find_operand_forms(row: TableRow, operands: Sequence[Word]) -> list[str]:
    """Return the dangerous forms that operands make: a forced refspec, a deletion, a protected branch."""
    if row.effect is Effect.RUNS_PROJECT and TEXT in row.operands:
        return [word.value or "" for word in operands if OUTWARD.search(word.value or "")]
    if row.name != "git push":
        return []
    forms = []
    for word in operands[1:]:
        value = word.value or ""
        if value.startswith("+"):
            forms.append("--force")
        if value.startswith(":"):
            forms.append("--delete")
        if PROTECTED_BRANCH.fullmatch(value.lstrip("+")):
            forms.append(value.lstrip("+").rpartition(":")[2].rpartition("/")[2])
    return forms


def _find_unknown(texts: Arguments) -> CommandKind | None:
    """Return a kind for a program that no table knows, as long as its arguments are plain ones."""
    name = texts.program
    table = load_table()
    runners = table.kinds.keys() | table.words["runs_anything"]
    if any(word.value in runners for word in texts.words):
        return CommandKind("", Effect.RUNS_CODE, f"{name[:40]} may run another program")
    if not re.fullmatch(r"[\w@.+/-]{1,80}", name):
        return None
    path = name if "/" in name else ""
    if path and not is_inner_path(path, texts.root):
        return CommandKind("", Effect.RUNS_CODE, f"{name[:40]} is a program outside of the workspace")
    reason = f"{name[:40]} is not a known command"
    if not texts.are_generic():
        return CommandKind("", Effect.RUNS_CODE, reason)
    first = texts.words[0].value if texts.words else ""
    sub = first if first and re.fullmatch(r"[a-z][\w:-]{0,30}", first) and not path else ""
    return CommandKind(f"{name} {sub}".strip(), Effect.RUNS_CODE, reason)
