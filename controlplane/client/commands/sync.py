"""`icp.py sync`: two-way sync between the repository's `.orchestration` directory and the registry.

The directory stores what both sides last agreed on, so that a change on one side is copied to the other, and
changes on both are reported as conflicts. Files are written atomically.
"""

from __future__ import annotations

import json
import os
import re
import sys

from controlplane.client.commands.git_changes import escape_unprintable
from controlplane.client.config.atomic_write import read_mode, write_atomically
from controlplane.client.connection import ControlPlaneError
from controlplane.client.digest import sha256_hex
from controlplane.client.http_request import load_connection, request, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any

STATE = ".icp-sync.json"
IGNORE = ".intentignore"
MARKDOWN = "text/markdown"
# A lesson, decision or constraint up to the next heading; headings inside of one begin with a backslash.
LESSON = re.compile(
    rb"^## (?:Lesson Learned|Architectural Decision|Constraint) \(.*?(?=^#{1,6}[ \t]|\Z)",
    re.MULTILINE | re.DOTALL,
)


class SyncError(Exception):
    """The sync stopped; the message says why."""


class SyncRun:
    """One run: directory, connection, saved state, and the number of conflicts."""

    def __init__(self, options: argparse.Namespace, connection: dict[str, Any]) -> None:
        self.directory, self.connection = os.path.abspath(options.dir), connection
        self.dry_run, self.prefer = options.dry_run, options.prefer
        self.conflicts = 0
        self.state = self._read_state()

    def _read_state(self) -> dict[str, Any]:
        raw = self.read(STATE)
        try:
            state = json.loads(raw or b"{}")
        except ValueError as problem:
            raise SyncError(
                f"{STATE} is not JSON: correct it, or remove it to compare from scratch."
            ) from problem
        if not isinstance(state, dict) or state.get("url", self.connection["url"]) != self.connection["url"]:
            raise SyncError(f"{STATE} belongs to another control plane: remove it to compare from scratch.")
        return {"url": self.connection["url"], "intents": {}, "digests": {}, **state}

    def resolve(self, name: str) -> str:
        """Return a file's real path. Raise SyncError if symlinks lead out of the repository."""
        path = os.path.join(self.directory, name)
        root = os.path.realpath(os.path.dirname(self.directory))
        if name == IGNORE and not os.path.exists(path):
            path = os.path.join(root, IGNORE)
        real_path = os.path.realpath(path)
        if os.path.commonpath([root, real_path]) != root:
            raise SyncError(f"{path} leads out of the repository.")
        return real_path

    def read(self, name: str) -> bytes | None:
        try:
            with open(self.resolve(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically if it differs."""
        if self.read(name) == data:
            return
        if name != STATE:
            print(f"{name}: {'would be written' if self.dry_run else 'written'}")
        if self.dry_run:
            return
        path = self.resolve(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_atomically(path, data, read_mode(path, 0o644))

    def report_conflict(self, name: str, text: str) -> None:
        self.conflicts += 1
        print(f"CONFLICT {escape_unprintable(name)}: {escape_unprintable(text)}")

    def get(self, path: str) -> bytes:
        return request(self.connection, "GET", path).read()

    def send(self, method: str, path: str, data: bytes, kind: str) -> bytes:
        """Return the answer; nothing in a dry run."""
        return b"" if self.dry_run else request(self.connection, method, path, data, kind).read()


def add_sync_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dir", default=".orchestration", help="the folder (.orchestration)")
    command.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    command.add_argument("--prefer", choices=("registry", "folder"), help="who wins where both changed")
    command.set_defaults(run=sync)


def sync(options: argparse.Namespace) -> int:
    """Return 0 in agreement, 1 with conflicts, 2 on errors."""
    try:
        run = SyncRun(options, load_connection())
        for part in (sync_intents, sync_ignore, sync_traces, sync_lessons, sync_map):
            part(run)
            run.write(STATE, (json.dumps(run.state, indent=1, sort_keys=True) + "\n").encode())
    except (ControlPlaneError, SyncError, OSError, ValueError) as problem:
        print(f"icp sync: {escape_unprintable(str(problem))}", file=sys.stderr)
        return 2
    print(f"{run.conflicts} conflicts; nothing of them was changed" if run.conflicts else "in agreement")
    return 1 if run.conflicts else 0


def sync_intents(run: SyncRun) -> None:
    name = "active_intents.yaml"
    raw = run.read(name)
    body = {"file": None if raw is None else raw.decode(), "base": run.state["intents"]}
    body |= {"dry_run": run.dry_run} | ({"prefer": run.prefer} if run.prefer else {})
    answer = request_json(run.connection, "POST", "intents/sync", body)
    for conflict in answer["conflicts"]:
        sides = (f"{side}: {json.dumps(conflict[side])}" for side in ("base", "registry", "folder"))
        run.report_conflict(f"{conflict['intent_id'] or name} {conflict['field']}", "; ".join(sides))
    for change in ("added", "changed", "removed"):
        for intent in answer["plan"][change]:
            intent_id = intent if isinstance(intent, str) else intent["intent_id"]
            print(f"registry: {escape_unprintable(intent_id)} {change}")
    if answer["file"] is not None:
        run.write(name, answer["file"].encode())
    run.state["intents"] = answer["base"]


def sync_ignore(run: SyncRun) -> None:
    def put(data: bytes) -> None:
        print(f"registry: {IGNORE} {'would be' if run.dry_run else 'is'} replaced")
        run.send("PUT", "intentignore", data, "text/plain")

    registry_text = run.get("intentignore")
    file_text = run.read(IGNORE)
    is_first = IGNORE not in run.state["digests"]
    if is_first and file_text and registry_text and file_text != registry_text and not run.prefer:
        # A new workspace names secrets by itself, so both sides have lines before the first sync.
        merged = merge_lines(registry_text, file_text)
        run.write(IGNORE, merged)
        if merged != registry_text:
            put(merged)
        run.state["digests"][IGNORE] = sha256_hex(merged)
        return
    sync_text(run, IGNORE, registry_text, put)


def merge_lines(registry_text: bytes, file_text: bytes) -> bytes:
    """Return the registry's lines that the file lacks, then the file: of two rules the later one decides."""
    file_lines = {line.strip() for line in file_text.splitlines()}
    missing = [line for line in registry_text.splitlines() if line.strip() and line.strip() not in file_lines]
    return b"".join(line + b"\n" for line in missing) + file_text


def sync_map(run: SyncRun) -> None:
    """Copy the registry's map to the file; edits of the file are reported as a conflict."""
    sync_text(run, "intent_map.md", run.get("intent-map"), None)


def sync_text(run: SyncRun, name: str, registry_text: bytes, put: Callable[[bytes], None] | None) -> None:
    """Sync a text as a unit: the side that changed wins. Without `put` the registry is read-only."""
    file_text, last_digest = run.read(name), run.state["digests"].get(name)
    if file_text is None or file_text == registry_text or sha256_hex(file_text) == last_digest:
        if file_text is not None or registry_text:
            run.write(name, registry_text)
    elif put and (
        sha256_hex(registry_text) == last_digest
        or run.prefer == "folder"
        or (last_digest is None and not registry_text)
    ):
        put(file_text)
        registry_text = file_text
    elif run.prefer == "registry":
        run.write(name, registry_text)
    else:
        run.report_conflict(name, "both sides changed; --prefer decides which one wins")
        return
    run.state["digests"][name] = sha256_hex(registry_text)


def sync_traces(run: SyncRun) -> None:
    """Copy missing entries both ways, by id: entries never change. Lines of the file stay unchanged."""
    name = "agent_trace.jsonl"
    file_lines, registry_lines = run.read(name) or b"", run.get("traces/export?format=orchestration")
    if file_lines.strip():
        run.send("POST", "traces/import", file_lines, "application/x-ndjson")
    known_ids = {json.loads(line)["id"] for line in file_lines.splitlines() if line.strip()}
    missing = [
        line
        for line in registry_lines.splitlines()
        if line.strip() and json.loads(line)["id"] not in known_ids
    ]
    if missing:
        separator = b"" if not file_lines or file_lines.endswith(b"\n") else b"\n"
        run.write(name, file_lines + separator + b"\n".join(missing) + b"\n")


def sync_lessons(run: SyncRun) -> None:
    """Record the file's lessons, append those that it lacks in any form, remove retired ones."""
    name = "AGENT.md"
    file_text = run.read(name) or b""
    if file_text.strip():
        answer = json.loads(run.send("POST", "lessons", file_text, MARKDOWN) or b"{}")
        for line in answer.get("not_understood", []):
            print(f"{name} line {line['line']} is in no lesson: {escape_unprintable(line['text'])}")
    retired = _parse_blocks(run.get("lessons?format=markdown&state=retired"))
    text = LESSON.sub(lambda block: b"" if _normalize_space(block[0]) in retired else block[0], file_text)
    file_blocks, registry_blocks = _parse_blocks(text), _parse_blocks(run.get("lessons?format=markdown"))
    file_words = _normalize_space(text)
    missing = [
        block
        for words, block in registry_blocks.items()
        if words not in file_blocks and not _contains_lines(file_words, block)
    ]
    if missing:
        head = text.rstrip(b"\n") + b"\n\n" if text.strip() else b""
        text = head + b"\n\n".join(missing) + b"\n"
    if text != file_text:
        run.write(name, text)


def _parse_blocks(text: bytes) -> dict[bytes, bytes]:
    """Return the blocks of a file, keyed by their text with normalized white space."""
    return {_normalize_space(block): block.strip() for block in LESSON.findall(text)}


def _contains_lines(file_words: bytes, block: bytes) -> bool:
    """Return whether every line of a block's text is in the file: people write lessons in other forms."""
    lines = block.partition(b":**\n")[2].splitlines()
    return bool(lines) and all(_normalize_space(line) in file_words for line in lines)


def _normalize_space(block: bytes) -> bytes:
    return b" ".join(block.split())
