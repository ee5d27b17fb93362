"""`icp.py sync`: the repository's `.orchestration` folder and the registry, both ways.

What both sides were when they last agreed is kept in the folder, so that a change on one side flows to the
other, and a change on both is shown. Each file is written whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import sys

from controlplane.client.call_context import CannotAskError, sha256_of
from controlplane.client.commands.git_changes import only_text
from controlplane.client.config.atomic_write import mode_of, write_whole
from controlplane.client.http_request import reach, request, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any

STATE = ".icp-sync.json"
IGNORE = ".intentignore"
MARKDOWN = "text/markdown"
# A lesson, decision or constraint, up to the next heading: a heading inside of one stands behind a backslash.
LESSON = re.compile(
    rb"^## (?:Lesson Learned|Architectural Decision|Constraint) \(.*?(?=^#{1,6}[ \t]|\Z)",
    re.MULTILINE | re.DOTALL,
)


class CannotSyncError(Exception):
    """Nothing more was changed; the message says why."""


class Syncing:
    """One run: the folder, the control plane, what is remembered, and the conflicts that were met."""

    def __init__(self, options: argparse.Namespace, told: dict[str, Any]) -> None:
        self.folder, self.told = os.path.abspath(options.dir), told
        self.dry_run, self.prefer = options.dry_run, options.prefer
        self.conflicts = 0
        self.state = self._remembered()

    def _remembered(self) -> dict[str, Any]:
        raw = self.read(STATE)
        try:
            found = json.loads(raw or b"{}")
        except ValueError as problem:
            raise CannotSyncError(f"{STATE} is not JSON: mend it, or remove it to compare anew.") from problem
        if not isinstance(found, dict) or found.get("url", self.told["url"]) != self.told["url"]:
            raise CannotSyncError(f"{STATE} speaks of another control plane: remove it to compare anew.")
        return {"url": self.told["url"], "intents": {}, "digests": {}, **found}

    def place(self, name: str) -> str:
        """Where a file really is: in the repository, whatever links say."""
        inside = os.path.join(self.folder, name)
        root = os.path.realpath(os.path.dirname(self.folder))
        if name == IGNORE and not os.path.exists(inside):
            inside = os.path.join(root, IGNORE)
        real = os.path.realpath(inside)
        if os.path.commonpath([root, real]) != root:
            raise CannotSyncError(f"{inside} leads out of the repository.")
        return real

    def read(self, name: str) -> bytes | None:
        try:
            with open(self.place(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def keep(self, name: str, data: bytes) -> None:
        """Write a file where it differs, through a new one beside it."""
        if self.read(name) == data:
            return
        if name != STATE:
            print(f"{name}: {'would be written' if self.dry_run else 'written'}")
        if self.dry_run:
            return
        path = self.place(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_whole(path, data, mode_of(path, 0o644))

    def conflict(self, name: str, text: str) -> None:
        self.conflicts += 1
        print(f"CONFLICT {only_text(name)}: {only_text(text)}")

    def get(self, path: str) -> bytes:
        return request(self.told, "GET", path).read()

    def send(self, method: str, path: str, data: bytes, kind: str) -> None:
        if not self.dry_run:
            request(self.told, method, path, data, kind).read()


def add_sync(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dir", default=".orchestration", help="the folder (.orchestration)")
    command.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    command.add_argument("--prefer", choices=("registry", "folder"), help="who wins where both changed")
    command.set_defaults(run=sync)


def sync(options: argparse.Namespace) -> int:
    """0 in agreement, 1 with conflicts, 2 where something could not be synced."""
    try:
        run = Syncing(options, reach())
        for part in (sync_intents, sync_ignore, sync_traces, sync_lessons, sync_map):
            part(run)
            run.keep(STATE, (json.dumps(run.state, indent=1, sort_keys=True) + "\n").encode())
    except (CannotAskError, CannotSyncError, OSError, ValueError) as problem:
        print(f"icp sync: {only_text(str(problem))}", file=sys.stderr)
        return 2
    print(f"{run.conflicts} conflicts; nothing of them was changed" if run.conflicts else "in agreement")
    return 1 if run.conflicts else 0


def sync_intents(run: Syncing) -> None:
    name = "active_intents.yaml"
    raw = run.read(name)
    body = {"file": None if raw is None else raw.decode(), "base": run.state["intents"]}
    body |= {"dry_run": run.dry_run} | ({"prefer": run.prefer} if run.prefer else {})
    found = request_json(run.told, "POST", "intents/sync", body)
    for one in found["conflicts"]:
        sides = (f"{side}: {json.dumps(one[side])}" for side in ("base", "registry", "folder"))
        run.conflict(f"{one['intent_id'] or name} {one['field']}", "; ".join(sides))
    for what in ("added", "changed", "removed"):
        for intent in found["plan"][what]:
            told = intent if isinstance(intent, str) else intent["intent_id"]
            print(f"registry: {only_text(told)} {what}")
    if found["file"] is not None:
        run.keep(name, found["file"].encode())
    run.state["intents"] = found["base"]


def sync_ignore(run: Syncing) -> None:
    def put(data: bytes) -> None:
        print(f"registry: {IGNORE} {'would be' if run.dry_run else 'is'} replaced")
        run.send("PUT", "intentignore", data, "text/plain")

    sync_text(run, IGNORE, run.get("intentignore"), put)


def sync_map(run: Syncing) -> None:
    """The registry alone makes it; what somebody wrote into the file is not lost."""
    sync_text(run, "intent_map.md", run.get("intent-map"), None)


def sync_text(run: Syncing, name: str, theirs: bytes, put: Callable[[bytes], None] | None) -> None:
    """A text without parts: the side that changed wins. Without `put` the registry cannot take it."""
    ours, agreed = run.read(name), run.state["digests"].get(name)
    if ours is None or ours == theirs or sha256_of(ours) == agreed:
        if ours is not None or theirs:
            run.keep(name, theirs)
    elif put and (sha256_of(theirs) == agreed or run.prefer == "folder" or (agreed is None and not theirs)):
        put(ours)
        theirs = ours
    elif run.prefer == "registry":
        run.keep(name, theirs)
    else:
        run.conflict(name, "both sides differ from what they agreed on; --prefer says who wins")
        return
    run.state["digests"][name] = sha256_of(theirs)


def sync_traces(run: Syncing) -> None:
    """Entries never change, so both sides get what they lack, by id. Lines of the file stay as they are."""
    name = "agent_trace.jsonl"
    ours, theirs = run.read(name) or b"", run.get("traces/export?format=orchestration")
    if ours.strip():
        run.send("POST", "traces/import", ours, "application/x-ndjson")
    known = {json.loads(line)["id"] for line in ours.splitlines() if line.strip()}
    new = [line for line in theirs.splitlines() if line.strip() and json.loads(line)["id"] not in known]
    if new:
        gap = b"" if not ours or ours.endswith(b"\n") else b"\n"
        run.keep(name, ours + gap + b"\n".join(new) + b"\n")


def sync_lessons(run: Syncing) -> None:
    """Lessons of the file are recorded, those that it lacks stand at its end, retired ones leave it."""
    name = "AGENT.md"
    ours = run.read(name) or b""
    if ours.strip():
        run.send("POST", "lessons", ours, MARKDOWN)
    gone = _blocks(run.get("lessons?format=markdown&state=retired"))
    kept = LESSON.sub(lambda block: b"" if _words(block[0]) in gone else block[0], ours)
    known, theirs = _blocks(kept), _blocks(run.get("lessons?format=markdown"))
    new = [theirs[words] for words in theirs if words not in known]
    if new:
        head = kept.rstrip(b"\n") + b"\n\n" if kept.strip() else b""
        kept = head + b"\n\n".join(new) + b"\n"
    if kept != ours:
        run.keep(name, kept)


def _blocks(text: bytes) -> dict[bytes, bytes]:
    """The blocks of a file by their words, so that white space makes no difference."""
    return {_words(block): block.strip() for block in LESSON.findall(text)}


def _words(block: bytes) -> bytes:
    return b" ".join(block.split())
