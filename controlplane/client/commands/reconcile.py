"""`icp.py reconcile`: status 0 where every file is explained, 1 with findings, 2 where it cannot be told."""

from __future__ import annotations

import json
import sys

from controlplane.client.call_context import CannotAskError
from controlplane.client.commands.git_changes import (
    CannotCheckError,
    changed_files,
    current_repository,
    only_text,
    span,
)
from controlplane.client.commands.git_notes import write_notes
from controlplane.client.http_request import reach, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

CANNOT_TELL = 2
WORDS = {"explained": "explained", "unexplained": "UNEXPLAINED", "out_of_scope": "OUT OF SCOPE"}


def add_reconcile(command: argparse.ArgumentParser) -> None:
    import argparse as lib

    command.add_argument("range", nargs="?", default="", help="A..B, A...B or A; else since the upstream")
    command.add_argument("--base", default="", help="instead: what --head adds since it parted from BASE")
    command.add_argument("--head", default="", help="(HEAD)")
    command.add_argument("--intent", default="", metavar="ID", help="its scope must hold every file")
    command.add_argument("--session", default="", metavar="ID", help="only what this session did counts")
    command.add_argument("--post", action=lib.BooleanOptionalAction, default=True, help="keep the result")
    command.add_argument("--json", action="store_true", help="print the whole answer")
    command.add_argument("--notes", action="store_true", help="write git notes, refs/notes/agent-trace")
    command.set_defaults(run=reconcile)


def reconcile(options: argparse.Namespace) -> int:
    try:
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a TextIOWrapper
        root = current_repository()
        base, head = span(root, options.range, options.base, options.head)
        told = reach()
        body: dict[str, Any] = {"base": base, "head": head, "files": changed_files(root, base, head)}
        body |= {"session_id": options.session, "intent_id": options.intent}
        answer = ask_about(told, body, keep=options.post)
        print(json.dumps(answer, indent=2) if options.json else table(answer))
        if options.notes:
            for line in write_notes(root, told, base, head):
                print(line, file=sys.stderr)
    except (CannotAskError, CannotCheckError) as problem:
        print(f"icp reconcile: {only_text(str(problem))}", file=sys.stderr)
        return CANNOT_TELL
    except Exception as error:  # noqa: BLE001  whatever it is, nothing was shown to be explained
        print(f"icp reconcile: {error!r}", file=sys.stderr)
        return CANNOT_TELL
    return 1 if answer["findings"] else 0


def ask_about(told: dict[str, Any], body: dict[str, Any], *, keep: bool) -> dict[str, Any]:
    """The control plane's answer, which must speak of just these files."""
    answer = request_json(told, "POST", f"reconciliations{'' if keep else '?dry_run=true'}", body)
    try:
        judged = len(answer["findings"]) + len(answer["explained"])
    except (KeyError, TypeError) as problem:
        raise CannotAskError("What answers is not the control plane.") from problem
    if judged != len(body["files"]):
        raise CannotAskError(f"The control plane spoke of {judged} files, of {len(body['files'])} asked.")
    return answer


def table(answer: dict[str, Any]) -> str:
    lines = []
    for one in [*answer["findings"], *answer["explained"]]:
        about = " ".join(one[name] for name in ("intent_id", "session_id") if one[name])
        lines.append(f"{WORDS[one['outcome']]:<12} {one['status']} {only_text(one['path'])}")
        if one["outcome"] != "explained":
            lines.append(f"{'':<15}{only_text(one['text'])}{f' ({only_text(about)})' if about else ''}")
    counts = answer["counts"]
    lines.append(
        f"{counts['files']} files: {counts['explained']} explained, {counts['unexplained']} unexplained, "
        f"{counts['out_of_scope']} out of scope"
    )
    return "\n".join(lines)
