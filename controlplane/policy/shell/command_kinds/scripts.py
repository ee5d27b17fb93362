"""Scripts of a workspace: `npm run NAME`, `yarn NAME`, and interpreters with a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from controlplane.policy.effects import Effect
from controlplane.policy.shell.command_kinds.rows.script_options import SCRIPT_OPTIONS
from controlplane.policy.shell.command_kinds.words import (
    Arguments,
    CommandKind,
    is_inner_path,
    is_plain,
    to_names,
)
from controlplane.policy.shell.word import Word

RUNNERS = (
    "npm run", "npm run-script", "pnpm run", "yarn run", "bun run", "mise run", "mise r", "composer run",
    "npm", "pnpm", "yarn", "bun", "poe", "hatch run", "deno task", "lerna run",
)  # fmt: skip
# `yarn build` runs the script `build`, unless the program has a command of that name.
SHORT = frozenset({"npm", "pnpm", "yarn", "bun", "poe"})
NPM_SCRIPTS = frozenset({"test", "t", "start", "stop", "restart"})
OWN_COMMANDS = to_names(
    "access add adduser approve-builds audit bin bugs cache ci completion config create dedupe",
    "deploy deprecate diff dist-tag dlx docs doctor edit env exec explain explore fetch find-dupes",
    "fund get global help hook i import info init install install-test link list login logout ls npm",
    "node org outdated owner pack patch ping pkg plugin pm policies prefix profile prune publish",
    "query rebuild remove repl repo rm root run run-script search self-update server set setup",
    "shrinkwrap star store team token un uninstall unlink unpublish unstar up update upgrade",
    "upgrade-interactive version view why whoami workspace workspaces x",
)
SCRIPT_NAME = re.compile(r"[\w@][\w:.@-]{0,60}")
OUTWARD = re.compile(
    r"(?:^|[:._-])(?:deploy|publish|release|push|upload|ship|prod(?:uction)?|migrate)", re.IGNORECASE
)
FILE_NAME = re.compile(r".*\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh|bash|lua|exs?|R|jl|mjs)\Z")
INTERPRETERS = (
    "dart run", "deno run", "bun run", "python", "python2", "node", "ruby", "perl", "php", "tsx", "ts-node",
    "bun", "lua", "Rscript", "julia", "elixir", "bash", "sh", "zsh", "dash", "swift", "dart",
)  # fmt: skip
CODE_OPTIONS = frozenset({"-c", "-e", "-E", "-p", "-pe", "-ne", "-r", "--eval", "--print", "-i"})
_OPTIONS = {token.rstrip("=?:"): token[-1] == "=" for token in SCRIPT_OPTIONS.split()}


def find_script(texts: Arguments) -> CommandKind | None:
    """Return the kind of a script; None where the command runs none."""
    return _find_interpreted(texts) or _find_named(texts)


def _find_named(texts: Arguments) -> CommandKind | None:
    rest = [*texts.program.split(), *texts.values]
    for runner in RUNNERS:
        words = runner.split()
        if rest[: len(words)] != words:
            continue
        after = list(texts.words[len(words) - len(texts.program.split()) :])
        before = _drop_options(after)
        if before is None or not before:
            continue
        name = before[0].value or ""
        if not SCRIPT_NAME.fullmatch(name) or (runner in SHORT and not _is_short_script(runner, name)):
            continue
        kind = f"{runner} {name}"
        if not _has_known_arguments(before[1:], texts.root):
            return CommandKind("", Effect.UNKNOWN, f"{kind} with arguments that are not known")
        if OUTWARD.search(name):
            return CommandKind(
                kind, Effect.SENDS, f"the script {name} is named after something that leaves the machine"
            )
        return CommandKind(kind, Effect.RUNS_PROJECT, "runs a script of the workspace")
    return None


def _is_short_script(runner: str, name: str) -> bool:
    return name in NPM_SCRIPTS if runner == "npm" else name not in OWN_COMMANDS


def _drop_options(words: list[Word]) -> list[Word] | None:
    """Return the words without known options in front; None where another option stands there."""
    rest = list(words)
    while rest and (rest[0].value or "").startswith("-"):
        name, equals, _ = (rest[0].value or "").partition("=")
        if name not in _OPTIONS:
            return None
        rest = rest[2 if _OPTIONS[name] and not equals else 1 :]
    return rest


def _has_known_arguments(words: Sequence[Word], root: str) -> bool:
    for word in words:
        value = word.value
        if value is None or word.has_tilde or word.may_split or not is_plain(value):
            return False
        name, _, attached = value.partition("=")
        if value == "--":
            continue
        if value.startswith("-") and name not in _OPTIONS and not re.fullmatch(r"-[a-zA-Z]{1,3}", value):
            return False
        if not is_inner_path(attached if value.startswith("-") and attached else value, root):
            return False
    return True


def _find_interpreted(texts: Arguments) -> CommandKind | None:
    """Return the kind of `python scripts/x.py`; code in the call itself has none."""
    own = [*texts.program.split(), *texts.values]
    name = next(
        (name for name in INTERPRETERS if own[: len(name.split())] == name.split()),
        "",
    )
    if not name:
        return None
    rest = own[len(name.split()) :]
    if not rest or rest[0] in CODE_OPTIONS or (rest[0] == "-" or rest[0] is None):
        return (
            CommandKind("", Effect.RUNS_CODE, f"{name} runs code that is given in the call") if rest else None
        )
    module = name == "python" and rest[0] == "-m" and len(rest) > 1 and re.fullmatch(r"[\w.]+", rest[1] or "")
    script = rest[0]
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
