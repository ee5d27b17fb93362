"""`awk` programs that only print.

The text is not parsed. It is refused wherever a character or a name could start a command, open a
file or load code, even where it stands in a string: awk's grammar cannot be told apart by a scanner
(a slash divides or opens a regular expression), so nothing is built on telling it apart.
"""

from __future__ import annotations

import re

from controlplane.policy.shell.command import Program, ProgramCall, record_operands
from controlplane.policy.shell.options import ParsedOptions, build_spec
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

FORBIDDEN = re.compile(r"system|getline|close|fflush|ARG|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|@")
# A condition compares. Without quotes, slashes and `#` inside, this text is one wherever it is code at all.
CONDITION = re.compile(r"\b(?:if|while)\s*\((?:[^(){}\"/|;#\n\\]|\([^(){}\"/|;#\n\\]*\))*\)")
SENDS = re.compile(r">|(?<!\|)\|(?!\|)|\|\|\|")  # `||` is an or
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def _awk(call: ProgramCall, parsed: ParsedOptions) -> None:
    if not parsed.operands:
        raise UnclearCommandError("awk without a program")
    program, *files = parsed.operands
    check_program(program)
    record_operands(call, [file for file in files if not ASSIGNMENT.match(file.prefix)], "r*")


def check_program(program: Word) -> None:
    """Raises UnclearError unless the program can only print to standard output.

    In front of the first brace a `>` compares and a `|` stands in a regular expression, for printing
    needs an action; behind it, they may write or run.
    """
    span = program.span
    text = program.value
    if text is None or program.is_file_name:
        raise UnclearCommandError("the awk program is not known", span)
    actions = CONDITION.sub("", text[text.find("{") :] if "{" in text else "")
    if FORBIDDEN.search(text) or SENDS.search(actions):
        raise UnclearCommandError("the awk program may write or run something", span)


AWK = Program(build_spec("-F= -v= --field-separator= --assign=", "-*"), _awk)
