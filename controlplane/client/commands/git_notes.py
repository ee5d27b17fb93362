"""`--notes`: what is known of each commit as one Agent Trace record in `refs/notes/agent-trace`."""

from __future__ import annotations

import json

from controlplane.client.commands.git_changes import CannotCheckError, changed_files, empty_tree, git
from controlplane.client.http_request import request, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOTES = "agent-trace"
MAX_COMMITS = 500
OURS = "dev.icp"


def write_notes(root: str, told: dict[str, Any], base: str, head: str) -> list[str]:
    """A line for each commit of the range that is no merge. A note of anybody else is left as it is."""
    spans = [head] if git(root, "cat-file", "-t", base).strip() == b"tree" else [head, f"^{base}"]
    commits = git(root, "rev-list", "--no-merges", "--reverse", *spans).decode().split()
    if len(commits) > MAX_COMMITS:
        raise CannotCheckError(
            f"{len(commits)} commits, notes are written for {MAX_COMMITS}: shorten the range."
        )
    explained = {one: explained_in(root, told, one) for one in commits}
    wanted = {file["entry_id"] for files in explained.values() for file in files}
    records = records_of(told, wanted)
    return [f"{one[:12]} {note(root, told, one, explained[one], records)}" for one in commits]


def explained_in(root: str, told: dict[str, Any], commit_id: str) -> list[dict[str, Any]]:
    """The files of one commit that are explained; nothing is recorded."""
    parents = git(root, "rev-list", "--parents", "-n1", commit_id).decode().split()[1:]
    before = parents[0] if parents else empty_tree(root)
    body = {"base": before, "head": commit_id, "files": changed_files(root, before, commit_id)}
    found: list[dict[str, Any]] = request_json(told, "POST", "reconciliations?dry_run=true", body)[
        "explained"
    ]
    return found


def records_of(told: dict[str, Any], wanted: set[str]) -> dict[str, dict[str, Any]]:
    """The Agent Trace records of these entries, by the entry's id."""
    found: dict[str, dict[str, Any]] = {}
    if wanted:
        for line in request(told, "GET", "traces/export?format=agent-trace"):
            record = json.loads(line)
            entry = record.get("metadata", {}).get(OURS, {}).get("entry") or record
            if entry["id"] in wanted:
                found[entry["id"]] = record
    return found


def note(
    root: str, told: dict[str, Any], commit_id: str, files: list[dict[str, Any]], records: dict[str, Any]
) -> str:
    known = [file for file in files if file["entry_id"] in records]
    if not known:
        return "nothing is known"
    text = json.dumps(commit_record(root, told, commit_id, known, records), sort_keys=True) + "\n"
    before = present_note(root, commit_id)
    if before == text:
        return "has this note"
    if before and not is_our_note(before):
        return "has a note of somebody else's, which is left as it is"
    arguments = ("--ref", NOTES, "add", "--force", "-F", "-", commit_id)
    git(root, *who(root), "notes", *arguments, given=text.encode())
    return f"noted, {len(known)} files"


def commit_record(
    root: str, told: dict[str, Any], commit_id: str, files: list[dict[str, Any]], records: dict[str, Any]
) -> dict[str, Any]:
    """Agent Trace 0.1.0, the same for the same knowledge."""
    import uuid

    when = git(root, "show", "-s", "--format=%cI", commit_id).decode().strip()
    return {
        "version": "0.1.0",
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{told['url']}/commit/{commit_id}")),
        "timestamp": when,
        "vcs": {"type": "git", "revision": commit_id},
        "tool": {"name": "icp", "version": "1"},
        "files": [
            {"path": file["path"], "conversations": talks_about(file, records[file["entry_id"]])}
            for file in files
        ],
        "metadata": {OURS: {"entries": [file["entry_id"] for file in files]}},
    }


def talks_about(file: dict[str, Any], record: dict[str, Any]) -> list[Any]:
    """The conversations of the record's own file; all of them where it had another name then."""
    same = [one for one in record["files"] if one["path"] == file["path"]] or record["files"]
    return [talk for one in same for talk in one["conversations"]]


def present_note(root: str, commit_id: str) -> str:
    listed = git(root, "notes", "--ref", NOTES, "list").decode().split("\n")
    blob = next((line.split()[0] for line in listed if line.endswith(f" {commit_id}")), "")
    return git(root, "cat-file", "blob", blob).decode("utf-8", "backslashreplace") if blob else ""


def is_our_note(text: str) -> bool:
    try:
        record = json.loads(text)
        return isinstance(record, dict) and "entries" in record["metadata"][OURS]
    except (ValueError, KeyError, TypeError):
        return False


def who(root: str) -> tuple[str, ...]:
    """An author for the notes where git knows none, as in CI."""
    try:
        git(root, "var", "GIT_COMMITTER_IDENT")
    except CannotCheckError:
        return ("-c", "user.name=icp", "-c", "user.email=icp@localhost")
    return ()
