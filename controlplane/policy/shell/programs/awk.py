"""`awk` programs that only print.

The program is not parsed: a scanner cannot tell a division from a regular expression. So any character or
name that could run a command, open a file or load code makes it unclear. In a string a character is text, but
where strings begin is certain only in a program without slashes, comments and quotes that are open.
"""

from __future__ import annotations

import re

from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

UNSAFE_NAMES = re.compile(r"system|getline|close|fflush|ARG|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|@")
# In a condition `>` compares. Without quotes, slashes and `#` this text is a condition wherever it is code.
CONDITION = re.compile(r"\b(?:if|while)\s*\((?:[^(){}\"/|;#\n\\]|\([^(){}\"/|;#\n\\]*\))*\)")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')  # the leftmost quote begins one
REDIRECTS = re.compile(r">|(?<!\|)\|(?!\|)|\|\|\|")  # but not `||`
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def run_awk(call: ProgramCall, parsed: ParsedOptions) -> None:
    if not parsed.operands:
        raise UnclearCommandError("awk without a program")
    program, *files = parsed.operands
    check_program(program)
    call.read_all(file for file in files if not ASSIGNMENT.match(file.prefix))


def check_program(program: Word) -> None:
    """Raise UnclearCommandError unless the program can only print to standard output.

    Printing needs an action, so in front of the first brace a `>` compares and a `|` belongs to a regular
    expression; behind it they may write or run something.
    """
    span = program.span
    text = program.value
    if text is None or program.is_file_name:
        raise UnclearCommandError("the awk program is known only when the command runs", span)
    code = STRING.sub("0", text)
    if re.search(r"[/#\"\\]", code):
        code = text
    actions = CONDITION.sub("", code[code.find("{") :] if "{" in code else "")
    if UNSAFE_NAMES.search(text) or REDIRECTS.search(actions):
        raise UnclearCommandError("the awk program may write or run something", span)
