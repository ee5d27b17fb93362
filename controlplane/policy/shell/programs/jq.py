"""`jq`: a filter, then files. Some of its options take two values.

A filter may read more files than the arguments name: `import "secret" as $s;` reads `secret.json`. So `-f`,
which reads the filter from a file, is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from controlplane.policy.shell.options import parse_options
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.word import Word

VALUES = frozenset({"--arg", "--argjson"})  # a name and a value
FILES = frozenset({"--slurpfile", "--rawfile"})  # a name and a file
# The path may have a format (`import @text "secret"`); `modulemeta` takes it from the filter.
IMPORTS = re.compile(r"""(?<![.\w$"'])(?:import|include)\s*["#@]|\bmodulemeta\b""")


def run_jq(call: ProgramCall) -> None:
    if any(word.value == "--" for word in call.args):
        raise UnclearCommandError("which words jq takes for files is not clear", call.span)
    parsed = parse_options(list(_without_pairs(call)), load_table().files["jq"])
    program, files = parsed.operands[:1], parsed.operands[1:]
    for word in program:
        if word.has_wildcard and word.prefix.startswith("."):  # an unquoted `.[0]` may expand to hidden files
            call.read(word)
        elif word.value is None or word.has_wildcard or word.is_file_name or IMPORTS.search(word.value):
            raise UnclearCommandError("a jq program that may read other files", word.span)
    call.read_all(files)


def _without_pairs(call: ProgramCall) -> Iterator[Word]:
    """Yield the arguments without the options that take two values, and record the files of these."""
    remaining = iter(call.args)
    for word in remaining:
        if word.value not in VALUES | FILES:
            yield word
            if word.value == "--indent":
                yield from islice(remaining, 1)  # its value, even if that looks like `--arg`
            continue
        pair = [next(remaining, None), next(remaining, None)]
        for value in pair:
            if value is None or value.may_split or value.has_wildcard:
                raise UnclearCommandError("an option without its two values", word.span)
        if word.value in FILES and pair[1] is not None:
            call.read(pair[1])
