"""Scripts of a workspace: `npm run NAME`, `yarn NAME`, and interpreters with a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from controlplane.policy.effects import Effect
from controlplane.policy.shell.command_kinds.words import (
    Arguments,
    CommandKind,
    is_inner_path,
    is_plain,
)
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.table.row import FLAG, TableRow
from controlplane.policy.shell.word import Word

SCRIPT_NAME = re.compile(r"[\w@][\w:.@-]{0,60}")
OUTWARD = re.compile(
    r"(?:^|[:._-])(?:deploy|publish|release|push|upload|ship|prod(?:uction)?|migrate)", re.IGNORECASE
)
FILE_NAME = re.compile(r".*\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh|bash|lua|exs?|R|jl|mjs)\Z")


def find_script(texts: Arguments) -> CommandKind | None:
    """Return the kind of a script; None where the command runs none."""
    return _find_interpreted(texts) or _find_named(texts)


def _find_named(texts: Arguments) -> CommandKind | None:
    rest = [*texts.program.split(), *texts.values]
    for runner, row in load_table().script_runners.items():
        words = runner.split()
        if rest[: len(words)] != words:
            continue
        after = _drop_options(texts.words[len(words) - len(texts.program.split()) :], row)
        name = (after[0].value or "") if after else ""
        if not SCRIPT_NAME.fullmatch(name) or not _is_script(runner, name):
            continue
        kind = f"{runner} {name}"
        if not _has_known_arguments(after[1:], row, texts.root):
            return CommandKind("", Effect.UNKNOWN, f"{kind} with arguments that are not known")
        if OUTWARD.search(name):
            return CommandKind(
                kind, Effect.SENDS, f"the script {name} is named after something that leaves the machine"
            )
        return CommandKind(kind, Effect.RUNS_PROJECT, "runs a script of the workspace")
    return None


def _is_script(runner: str, name: str) -> bool:
    """Return whether a name is that of a script, and no command of the runner's own."""
    words = load_table().words
    if runner not in words["short_runners"]:
        return True
    return name in words["npm_scripts"] if runner == "npm" else name not in words["own_commands"]


def _drop_options(words: Sequence[Word], row: TableRow) -> list[Word]:
    """Return the words without known options in front; nothing where another option stands there."""
    rest = list(words)
    while rest and (rest[0].value or "").startswith("-"):
        name, equals, _ = (rest[0].value or "").partition("=")
        if name not in row.options:
            return []
        rest = rest[1 if row.options[name] == FLAG or equals else 2 :]
    return rest


def _has_known_arguments(words: Sequence[Word], row: TableRow, root: str) -> bool:
    for word in words:
        value = word.value
        if value is None or word.has_tilde or word.may_split or not is_plain(value):
            return False
        name, _, attached = value.partition("=")
        if value == "--":
            continue
        if value.startswith("-") and name not in row.options and not re.fullmatch(r"-[a-zA-Z]{1,3}", value):
            return False
        if not is_inner_path(attached if value.startswith("-") and attached else value, root):
            return False
    return True


def _find_interpreted(texts: Arguments) -> CommandKind | None:
    """Return the kind of `python scripts/x.py`; code in the call itself has none."""
    own = [*texts.program.split(), *texts.values]
    interpreters = load_table().interpreters
    name = next((name for name in interpreters if own[: len(name.split())] == name.split()), "")
    if not name:
        return None
    rest = own[len(name.split()) :]
    if not rest or rest[0] in (*interpreters[name].options, "-", None):
        return (
            CommandKind("", Effect.RUNS_CODE, f"{name} runs code that is given in the call") if rest else None
        )
    module = name == "python" and rest[0] == "-m" and len(rest) > 1 and re.fullmatch(r"[\w.]+", rest[1] or "")
    script = rest[0] or ""
    if not module and not (FILE_NAME.match(script) and is_inner_path(script, texts.root)):
        return None
    kind = f"python -m {rest[1]}" if module else f"{name} {script}"
    skipped = 2 if module else 1
    arguments = Arguments(
        name, texts.words[len(name.split()) - len(texts.program.split()) + skipped :], texts.root
    )
    if not arguments.are_generic():
        return CommandKind("", Effect.RUNS_CODE, f"{kind} with arguments that may name files outside")
    return CommandKind(kind, Effect.RUNS_CODE, "runs a file of the workspace")
