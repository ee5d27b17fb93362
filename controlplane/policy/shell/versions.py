"""Package managers and compilers: only the questions that run nothing of the workspace.

Left out on purpose: yarn (runs the release that the workspace names), cargo tree and metadata without
--locked (write Cargo.lock).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controlplane.policy.shell.call import Call, Custom, Entry, by_role
from controlplane.policy.shell.options import Spec, parse_options, spec
from controlplane.policy.shell.values import UnclearError

if TYPE_CHECKING:
    from collections.abc import Mapping

LISTS = (
    "-alg --all --long --json --parseable --depth= --global --prod --production --dev --omit= "
    "--include= --only="
)

QUESTIONS: Mapping[str, Mapping[str, Spec]] = {
    "npm": {
        **dict.fromkeys(("ls", "list", "ll", "la", "outdated", "why", "explain"), spec(LISTS, "-*")),
        **dict.fromkeys(
            ("view", "info", "show", "root", "prefix", "bin", "help"), spec("-g --json --global", "-*")
        ),
    },
    "pnpm": dict.fromkeys(("ls", "list", "why", "outdated"), spec(LISTS, "-*")),
    "pip": {
        "list": spec("-olv --outdated --format= --local --user --not-required --editable", ""),
        "show": spec("-fv --files --verbose", "-*"),
        "freeze": spec("-l --all --local --user --exclude-editable", ""),
        "check": spec("", ""),
    },
    "cargo": dict.fromkeys(
        ("tree", "metadata"),
        spec(
            "-e= -i= -p= -d --locked --offline --frozen --depth= --format-version= --no-deps "
            "--edges= --invert="
        ),
    ),
    "go": {
        "version": spec("-mv"),
        "list": Spec({"-m": "", "-json": "", "-u": "", "-versions": "", "-deps": "", "-f": "-"}, "-*"),
        "doc": spec("-acu", "-*"),
    },
    "docker": {
        "ps": spec("-aqnls -f= --all --filter= --format= --no-trunc --quiet", ""),
        "images": spec("-aq -f= --all --filter= --format= --no-trunc --quiet --digests", "-*"),
        "version": spec("-f= --format=", ""),
    },
}
SAME = {"pip3": "pip"}
SHORT_VERSION = {
    "-V": "python python2 python3 pip pip3 ruff uv cargo rustc",
    "-v": "node npm pnpm ruby perl php deno bun tsc gcc clang make",
    "-version": "java javac",
    "version": "docker terraform helm",
}
VERSIONED = frozenset(
    [
        "node",
        "npm",
        "pnpm",
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
        "rustc",
        "cargo",
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
        "pytest",
        "uv",
        "poetry",
        "dotnet",
        "terraform",
        "helm",
    ]
)


def _ask(call: Call) -> None:
    words = [word.value for word in call.args]
    if len(words) == 1 and (
        words[0] == "--version" or call.name in SHORT_VERSION.get(words[0] or "", "").split()
    ):
        return
    asked = QUESTIONS.get(SAME.get(call.name, call.name), {})
    known = asked.get(words[0] or "") if words else None
    if known is None:
        raise UnclearError(f"what {call.name} changes is not known", call.span)
    found = parse_options(call.args[1:], known)
    if call.name == "cargo" and not found.has("--locked", "--frozen"):
        raise UnclearError("may write Cargo.lock", call.span)
    by_role(call, found.operands, known.operands)
    call.read_here()


VERSIONS: Mapping[str, Entry] = dict.fromkeys(
    VERSIONED | QUESTIONS.keys() | SAME.keys(), Custom(_ask, "runs")
)
