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
from collections.abc import Mapping, Sequence

from controlplane.policy.shell.options import OptionSpec, build_spec, parse_options
from controlplane.policy.shell.program_call import CustomProgram, KnownProgram, ProgramCall, record_operands
from controlplane.policy.shell.result import UnclearCommandError, UnknownUsageError
from controlplane.policy.shell.word import Word

NPM_LIST_OPTIONS = (
    "-alg --all --long --json --parseable --depth= --global --prod --production --dev --omit= "
    "--include= --only="
)

QUERIES: Mapping[str, Mapping[str, OptionSpec]] = {
    "npm": {
        **dict.fromkeys(
            ("ls", "list", "ll", "la", "outdated", "why", "explain"), build_spec(NPM_LIST_OPTIONS, "-*")
        ),
        **dict.fromkeys(
            ("view", "info", "show", "root", "prefix", "bin"), build_spec("-g --json --global", "-*")
        ),
    },
    "pip": {
        "list": build_spec("-olv --outdated --format= --local --user --not-required --editable", ""),
        "show": build_spec("-fv --files --verbose", "-*"),
        "freeze": build_spec("-l --all --local --user --exclude-editable", ""),
        "check": build_spec("", ""),
    },
    "docker": {
        "ps": build_spec("-aqnls -f= --all --filter= --format= --no-trunc --quiet", ""),
        "images": build_spec("-aq -f= --all --filter= --format= --no-trunc --quiet --digests", "-*"),
        "version": build_spec("-f= --format=", ""),
        "logs": build_spec("-ft -n= --details --follow --timestamps --since= --tail= --until=", "-*"),
        "inspect": build_spec("-s -f= --format= --size --type=", "-*"),
    },
}
ALIASES = {"pip3": "pip"}
REGISTRY_QUERIES = frozenset({"view", "info", "show"})
PACKAGE = re.compile(r"(@[\w.~-]+/)?[\w.~-]+(@[\w.~^<>=*|-]+)?", re.ASCII)
VERSION_WORDS = {
    "-V": "python python2 python3 pip pip3 ruff uv",
    "-v": "node npm ruby perl php deno bun tsc gcc clang make",
    "-version": "java javac",
    "version": "docker terraform helm",
    "run": "npm",  # without a script, it lists them
}
WITH_VERSION_OPTION = frozenset(
    [
        "node",
        "npm",
        "deno",
        "bun",
        "python",
        "python2",
        "python3",
        "pip",
        "pip3",
        "ruby",
        "gem",
        "perl",
        "php",
        "java",
        "javac",
        "gcc",
        "g++",
        "clang",
        "make",
        "cmake",
        "git",
        "docker",
        "tsc",
        "ruff",
        "mypy",
        "uv",
        "terraform",
        "helm",
    ]
)


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
    if len(words) == 1 and (
        words[0] == "--version" or call.name in VERSION_WORDS.get(words[0] or "", "").split()
    ):
        return
    subcommands = QUERIES.get(ALIASES.get(call.name, call.name), {})
    spec = subcommands.get(words[0] or "") if words else None
    if spec is None:
        raise UnknownUsageError(f"what this {call.name} command changes is not known")
    parsed = parse_options(call.args[1:], spec)
    if call.name == "npm" and words[0] in REGISTRY_QUERIES:
        _check_packages(parsed.operands[:1])
    record_operands(call, parsed.operands, spec.operands)
    call.read_cwd()


PACKAGE_MANAGERS: Mapping[str, KnownProgram] = dict.fromkeys(
    WITH_VERSION_OPTION | QUERIES.keys() | ALIASES.keys(), CustomProgram(run_query, "runs")
)
