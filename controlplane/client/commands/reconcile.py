"""`icp.py reconcile`: exit status 0 if every file is explained, 1 with findings, 2 on errors."""

from __future__ import annotations

import json
import sys

from controlplane.client.commands.answer_proof import check_answer
from controlplane.client.commands.git_changes import (
    GitRangeError,
    escape_unprintable,
    find_worktree_root,
    list_changed_files,
    resolve_range,
)
from controlplane.client.commands.git_notes import write_notes
from controlplane.client.connection import ControlPlaneError
from controlplane.client.http_request import load_connection, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

EXIT_ERROR = 2
BESIDE_OTHERS = "traced_beside_others"  # explained, and yet something is to be said
OUTCOME_LABELS = {"explained": "explained", "unexplained": "UNEXPLAINED", "out_of_scope": "OUT OF SCOPE"}


def add_reconcile_arguments(command: argparse.ArgumentParser) -> None:
    import argparse as lib

    command.add_argument("range", nargs="?", default="", help="A..B, A...B or A; else since the upstream")
    command.add_argument("--base", default="", help="instead: what --head adds since it parted from BASE")
    command.add_argument("--head", default="", help="(HEAD)")
    command.add_argument("--intent", default="", metavar="ID", help="its scope must hold every file")
    command.add_argument("--session", default="", metavar="ID", help="only what this session did counts")
    command.add_argument("--post", action=lib.BooleanOptionalAction, default=True, help="keep the result")
    command.add_argument("--json", action="store_true", help="print the whole answer")
    command.add_argument("--verify", action="store_true", help="check the proof against the head kept here")
    command.add_argument("--notes", action="store_true", help="write git notes, refs/notes/agent-trace")
    command.set_defaults(run=reconcile)


def reconcile(options: argparse.Namespace) -> int:
    try:
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a TextIOWrapper
        root = find_worktree_root()
        base, head = resolve_range(root, options.range, options.base, options.head)
        connection = load_connection()
        body: dict[str, Any] = {"base": base, "head": head, "files": list_changed_files(root, base, head)}
        body |= {"session_id": options.session, "intent_id": options.intent}
        answer = post_reconciliation(connection, body, keep=options.post, proof=options.verify)
        if options.verify:
            print(escape_unprintable(check_answer(connection, body, answer)), file=sys.stderr)
        print(json.dumps(answer, indent=2) if options.json else render_table(answer))
        if options.notes:
            for line in write_notes(root, connection, base, head):
                print(line, file=sys.stderr)
    except (ControlPlaneError, GitRangeError) as problem:
        print(f"icp reconcile: {escape_unprintable(str(problem))}", file=sys.stderr)
        return EXIT_ERROR
    except Exception as error:  # noqa: BLE001  whatever it is, nothing was shown to be explained
        print(f"icp reconcile: {error!r}", file=sys.stderr)
        return EXIT_ERROR
    return 1 if answer["findings"] else 0


def post_reconciliation(
    connection: dict[str, Any], body: dict[str, Any], *, keep: bool, proof: bool = False
) -> dict[str, Any]:
    """Post the files. Raise ControlPlaneError if the answer does not cover all of them."""
    query = f"dry_run={'false' if keep else 'true'}&proof={'true' if proof else 'false'}"
    answer = request_json(connection, "POST", f"reconciliations?{query}", body)
    try:
        answered = len(answer["findings"]) + len(answer["explained"])
    except (KeyError, TypeError) as problem:
        raise ControlPlaneError("What answers is not the control plane.") from problem
    if answered != len(body["files"]):
        raise ControlPlaneError(f"The control plane answered for {answered} of {len(body['files'])} files.")
    return answer


def render_table(answer: dict[str, Any]) -> str:
    lines = []
    for file in [*answer["findings"], *answer["explained"]]:
        ids = " ".join(file[name] for name in ("intent_id", "session_id") if file[name])
        lines.append(
            f"{OUTCOME_LABELS[file['outcome']]:<12} {file['status']} {escape_unprintable(file['path'])}"
        )
        if file["outcome"] != "explained" or file["reason"] == BESIDE_OTHERS:
            lines.append(
                f"{'':<15}{escape_unprintable(file['text'])}{f' ({escape_unprintable(ids)})' if ids else ''}"
            )
    counts = answer["counts"]
    lines.append(
        f"{counts['files']} files: {counts['explained']} explained, {counts['unexplained']} unexplained, "
        f"{counts['out_of_scope']} out of scope"
    )
    return "\n".join(lines)
