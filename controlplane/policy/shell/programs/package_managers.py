"""Package managers and compilers: the queries that run nothing of the workspace.

Left out on purpose, even for `--version`, is every program that lets the workspace choose what runs: yarn
and pnpm run the release that package.json names, cargo and rustc the toolchain of rust-toolchain.toml, cargo
also the wrapper of .cargo/config.toml, dotnet the SDK of global.json, go the release of go.mod, and they
download it. pytest loads conftest.py first, poetry the plugins below .poetry. npm runs the `git` of .npmrc
for anything but a plain package name, and the browser of .npmrc for help; it also asks the registry and
writes the log that .npmrc names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from controlplane.policy.shell.options import parse_options
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.roles import record_operands
from controlplane.policy.shell.result import UnclearCommandError, UnknownUsageError
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.word import Word

REGISTRY_QUERIES = frozenset({"view", "info", "show"})
PACKAGE = re.compile(r"(@[\w.~-]+/)?[\w.~-]+(@[\w.~^<>=*|-]+)?", re.ASCII)


def _check_packages(operands: Sequence[Word]) -> None:
    """Require plain package names: `npm view react@18` asks the registry; a URL is fetched by git."""
    for word in operands:
        if word.value is None or not PACKAGE.fullmatch(word.value):
            raise UnclearCommandError(
                "npm may fetch this with git: it is not a plain package name", word.span
            )


def _check_npmrc(call: ProgramCall) -> None:
    """Require that no .npmrc of the workspace chooses npm's registry and log file."""
    for directory in call.state.directories or ("",):
        above = (*call.recorder.walk_up(directory), "")
        if any(call.recorder.may_exist(f"{directory}/.npmrc".lstrip("/")) for directory in above):
            raise UnclearCommandError(
                "an .npmrc of the workspace chooses npm's log file and registry", call.span
            )


def run_query(call: ProgramCall) -> None:
    words = [word.value for word in call.args]
    if call.name == "npm" and words not in (["--version"], ["-v"]):
        _check_npmrc(call)
    table = load_table()
    if len(words) == 1 and call.name in table.words.get(f"asks {words[0]}", ()):
        return
    manager = "pip" if call.name == "pip3" else call.name
    row = table.files.get(f"{manager} {words[0]}") if words else None
    if row is None:
        raise UnknownUsageError(f"what this {call.name} command changes is not known")
    parsed = parse_options(call.args[1:], row)
    if call.name == "npm" and words[0] in REGISTRY_QUERIES:
        _check_packages(parsed.operands[:1])
    record_operands(call, parsed)
    call.read_cwd()
