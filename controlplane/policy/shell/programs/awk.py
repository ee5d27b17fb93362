"""`awk` programs that only print.

The text is not parsed. It is refused wherever a character or a name could start a command, open a
file or load code, even where it stands in a string: awk's grammar cannot be told apart by a scanner
(a slash divides or opens a regular expression), so nothing is built on telling it apart.
"""

from __future__ import annotations

import re

from controlplane.policy.shell.command import Call, Program, by_role
from controlplane.policy.shell.options import Parsed, spec
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.word import Word

FORBIDDEN = re.compile(r"system|getline|close|fflush|ARG|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|@")
# A condition compares. Without quotes, slashes and `#` inside, this text is one wherever it is code at all.
CONDITION = re.compile(r"\b(?:if|while)\s*\((?:[^(){}\"/|;#\n\\]|\([^(){}\"/|;#\n\\]*\))*\)")
SENDS = re.compile(r">|(?<!\|)\|(?!\|)|\|\|\|")  # `||` is an or
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def _awk(call: Call, parsed: Parsed) -> None:
    if not parsed.operands:
        raise UnclearError("awk without a program")
    program, *files = parsed.operands
    vet(program)
    by_role(call, [file for file in files if not ASSIGNMENT.match(file.prefix)], "r*")


def vet(program: Word) -> None:
    """Raises UnclearError unless the program can only print to standard output.

    In front of the first brace a `>` compares and a `|` stands in a regular expression, for printing
    needs an action; behind it, they may write or run.
    """
    span = (program.start, program.end)
    text = program.value
    if text is None or program.listed:
        raise UnclearError("the awk program is not known", span)
    actions = CONDITION.sub("", text[text.find("{") :] if "{" in text else "")
    if FORBIDDEN.search(text) or SENDS.search(actions):
        raise UnclearError("the awk program may write or run something", span)


AWK = Program(spec("-F= -v= --field-separator= --assign=", "-*"), _awk)
