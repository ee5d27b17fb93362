"""`--notes`: write one Agent Trace record per commit to `refs/notes/agent-trace`."""

from __future__ import annotations

import json

from controlplane.client.commands.git_changes import GitRangeError, empty_tree, list_changed_files, run_git
from controlplane.client.http_request import request, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOTES_REF = "agent-trace"
MAX_COMMITS = 500
OURS = "dev.icp"


def write_notes(root: str, connection: dict[str, Any], base: str, head: str) -> list[str]:
    """Write notes for the non-merge commits of a range; return a line per commit. Foreign notes stay."""
    revisions = [head] if run_git(root, "cat-file", "-t", base).strip() == b"tree" else [head, f"^{base}"]
    commits = run_git(root, "rev-list", "--no-merges", "--reverse", *revisions).decode().split()
    if len(commits) > MAX_COMMITS:
        raise GitRangeError(
            f"{len(commits)} commits, notes are written for {MAX_COMMITS}: shorten the range."
        )
    explained = {commit_id: find_explained_files(root, connection, commit_id) for commit_id in commits}
    entry_ids = {file["entry_id"] for files in explained.values() for file in files}
    records = fetch_records(connection, entry_ids)
    return [
        f"{commit_id[:12]} {write_note(root, connection, commit_id, explained[commit_id], records)}"
        for commit_id in commits
    ]


def find_explained_files(root: str, connection: dict[str, Any], commit_id: str) -> list[dict[str, Any]]:
    """Return the explained files of one commit, by a dry run."""
    parents = run_git(root, "rev-list", "--parents", "-n1", commit_id).decode().split()[1:]
    before = parents[0] if parents else empty_tree(root)
    body = {"base": before, "head": commit_id, "files": list_changed_files(root, before, commit_id)}
    files: list[dict[str, Any]] = request_json(connection, "POST", "reconciliations?dry_run=true", body)[
        "explained"
    ]
    return files


def fetch_records(connection: dict[str, Any], entry_ids: set[str]) -> dict[str, dict[str, Any]]:
    """Return the Agent Trace records of entries, by entry id."""
    records: dict[str, dict[str, Any]] = {}
    if entry_ids:
        for line in request(connection, "GET", "traces/export?format=agent-trace"):
            record = json.loads(line)
            entry = record.get("metadata", {}).get(OURS, {}).get("entry") or record
            if entry["id"] in entry_ids:
                records[entry["id"]] = record
    return records


def write_note(
    root: str,
    connection: dict[str, Any],
    commit_id: str,
    files: list[dict[str, Any]],
    records: dict[str, Any],
) -> str:
    recorded = [file for file in files if file["entry_id"] in records]
    if not recorded:
        return "nothing is known"
    text = (
        json.dumps(build_commit_record(root, connection, commit_id, recorded, records), sort_keys=True) + "\n"
    )
    current = read_note(root, commit_id)
    if current == text:
        return "has this note"
    if current and not is_our_note(current):
        return "has a note by someone else, which was not changed"
    arguments = ("--ref", NOTES_REF, "add", "--force", "-F", "-", commit_id)
    run_git(root, *committer_options(root), "notes", *arguments, stdin=text.encode())
    return f"noted, {len(recorded)} files"


def build_commit_record(
    root: str,
    connection: dict[str, Any],
    commit_id: str,
    files: list[dict[str, Any]],
    records: dict[str, Any],
) -> dict[str, Any]:
    """Build an Agent Trace 0.1.0 record; the same entries give the same record."""
    import uuid

    committed_at = run_git(root, "show", "-s", "--format=%cI", commit_id).decode().strip()
    return {
        "version": "0.1.0",
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{connection['url']}/commit/{commit_id}")),
        "timestamp": committed_at,
        "vcs": {"type": "git", "revision": commit_id},
        "tool": {"name": "icp", "version": "1"},
        "files": [
            {"path": file["path"], "conversations": list_conversations(file, records[file["entry_id"]])}
            for file in files
        ],
        "metadata": {OURS: {"entries": [file["entry_id"] for file in files]}},
    }


def list_conversations(file: dict[str, Any], record: dict[str, Any]) -> list[Any]:
    """Return the conversations about a file; all of the record's if the file was renamed since."""
    same = [other for other in record["files"] if other["path"] == file["path"]] or record["files"]
    return [conversation for other in same for conversation in other["conversations"]]


def read_note(root: str, commit_id: str) -> str:
    lines = run_git(root, "notes", "--ref", NOTES_REF, "list").decode().split("\n")
    blob = next((line.split()[0] for line in lines if line.endswith(f" {commit_id}")), "")
    return run_git(root, "cat-file", "blob", blob).decode("utf-8", "backslashreplace") if blob else ""


def is_our_note(text: str) -> bool:
    try:
        record = json.loads(text)
        return isinstance(record, dict) and "entries" in record["metadata"][OURS]
    except (ValueError, KeyError, TypeError):
        return False


def committer_options(root: str) -> tuple[str, ...]:
    """Return options that name a committer if git knows none, as in CI."""
    try:
        run_git(root, "var", "GIT_COMMITTER_IDENT")
    except GitRangeError:
        return ("-c", "user.name=icp", "-c", "user.email=icp@localhost")
    return ()
