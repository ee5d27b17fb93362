"""Package managers and compilers: only the questions that run nothing of the workspace.

Left out on purpose, even for their version: what first asks the workspace which program to be. yarn and pnpm
run the release that package.json names, cargo and rustc the toolchain of rust-toolchain.toml, cargo also the
wrapper of .cargo/config.toml, dotnet the SDK of global.json, go the release of go.mod, and fetch it. pytest
loads conftest.py first, poetry the plugins below .poetry. npm runs the `git` of .npmrc for what is no plain
name of a package, and the browser of .npmrc for help; and it asks the registry and writes the log
that .npmrc names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from controlplane.policy.shell.command import CustomProgram, KnownProgram, ProgramCall, record_operands
from controlplane.policy.shell.options import OptionSpec, build_spec, parse_options
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

LISTS = (
    "-alg --all --long --json --parseable --depth= --global --prod --production --dev --omit= "
    "--include= --only="
)

QUESTIONS: Mapping[str, Mapping[str, OptionSpec]] = {
    "npm": {
        **dict.fromkeys(("ls", "list", "ll", "la", "outdated", "why", "explain"), build_spec(LISTS, "-*")),
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
SAME = {"pip3": "pip"}
LOOKUPS = frozenset({"view", "info", "show"})
PACKAGE = re.compile(r"(@[\w.~-]+/)?[\w.~-]+(@[\w.~^<>=*|-]+)?", re.ASCII)
SHORT_VERSION = {
    "-V": "python python2 python3 pip pip3 ruff uv",
    "-v": "node npm ruby perl php deno bun tsc gcc clang make",
    "-version": "java javac",
    "version": "docker terraform helm",
    "run": "npm",  # alone, it lists the scripts
}
VERSIONED = frozenset(
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


def _vet_package(operands: Sequence[Word]) -> None:
    """`npm view react@18` asks the registry; a URL or `user/project` is fetched by git."""
    for word in operands:
        if word.value is None or not PACKAGE.fullmatch(word.value):
            raise UnclearCommandError("what npm fetches here is no plain name of a package", word.span)


def _vet_npmrc(call: ProgramCall) -> None:
    """Where npm writes its log and which registry it asks is for the user to say, not for a file here."""
    for folder in call.state.directories or ("",):
        above = (*call.recorder.walk_up(folder), "")
        if any(call.recorder.may_exist(f"{one}/.npmrc".lstrip("/")) for one in above):
            raise UnclearCommandError(
                "npm logs where .npmrc says, and asks the registry that it names", call.span
            )


def _ask(call: ProgramCall) -> None:
    words = [word.value for word in call.args]
    if call.name == "npm" and words not in (["--version"], ["-v"]):
        _vet_npmrc(call)
    if len(words) == 1 and (
        words[0] == "--version" or call.name in SHORT_VERSION.get(words[0] or "", "").split()
    ):
        return
    asked = QUESTIONS.get(SAME.get(call.name, call.name), {})
    known = asked.get(words[0] or "") if words else None
    if known is None:
        raise UnclearCommandError(f"what {call.name} changes is not known")
    found = parse_options(call.args[1:], known)
    if call.name == "npm" and words[0] in LOOKUPS:
        _vet_package(found.operands[:1])
    record_operands(call, found.operands, known.operands)
    call.read_cwd()


VERSIONS: Mapping[str, KnownProgram] = dict.fromkeys(
    VERSIONED | QUESTIONS.keys() | SAME.keys(), CustomProgram(_ask, "runs")
)
