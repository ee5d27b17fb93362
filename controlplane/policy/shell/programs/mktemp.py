"""`mktemp` makes a file of a new name, by default in the folder for temporary files, and prints the name.

The last letters of the name are not known, but nothing of that name was there before: its template stands
for it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

FOLDER = "/tmp"  # noqa: S108  a name, not a file
NEW_NAME = "tmp.XXXXXXXXXX"
TEMPLATE = re.compile(r"[\w.@%+=-]*X{3}[\w.@%+=-]*")
# A substitution whose value is such a name: `$(mktemp)`, `$(mktemp -d /tmp/x-XXXXXX)`.
SUBSTITUTION = re.compile(
    r"\$\(\s*mktemp(?P<folder>\s+-d)?(?:\s+(?P<quote>[\"']?)(?P<path>/tmp/[\w.@%+=-]*X{3}[\w.@%+=-]*)(?P=quote))?"
    r"(?:\s+2>/dev/null)?\s*\)"
)


def find_new_name(text: str) -> tuple[str, bool] | None:
    """Return the path that a substitution yields, and whether it is a folder; None for any other."""
    match = SUBSTITUTION.fullmatch(text)
    if match is None:
        return None
    return match["path"] or f"{FOLDER}/{NEW_NAME}", match["folder"] is not None


def run_mktemp(call: ProgramCall, parsed: ParsedOptions) -> None:
    if len(parsed.operands) > 1:
        raise UnclearCommandError("mktemp with several templates")
    folders = parsed.values("-p")
    if folders and not folders[-1].value:
        raise UnclearCommandError("the folder of mktemp is known only when it runs", folders[-1].span)
    template = parsed.operands[0] if parsed.operands else Word(NEW_NAME, NEW_NAME, *call.span)
    name = (template.value or "").rpartition("/")[2]
    if not TEMPLATE.fullmatch(name):
        raise UnclearCommandError("a template of mktemp that is not understood", template.span)
    path = template.value or ""
    if folders or parsed.has("-t") or not parsed.operands:
        path = f"{folders[-1].value if folders else FOLDER}/{path}"
    call.write(
        replace(template, value=path, prefix=path), "folder" if parsed.has("-d", "--directory") else "write"
    )
