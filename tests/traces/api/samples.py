"""Entries and requests for the tests of REST."""

from __future__ import annotations

import json


def entry(
    entry_id="e-1", path="src/a.ts", intent="INT-001", timestamp="2026-02-21T12:00:00Z", session="s-1", **more
):
    talk = {
        "url": session,
        "contributor": {"entity_type": "AI", "model_identifier": "model-x"},
        "ranges": [{"start_line": 1, "end_line": 2, "content_hash": "sha256:aa"}],
        "related": [{"type": "specification", "value": intent}],
    }
    files = [{"relative_path": path, "conversations": [talk]}]
    return {"id": entry_id, "timestamp": timestamp, "vcs": {"revision_id": "abc"}, "files": files, **more}


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def post_lines(speaker, text, path="traces", content_type="application/x-ndjson"):
    return speaker.post(path, text, content_type=content_type)


def text_of(response):
    return b"".join(response.streaming_content).decode()


def ids(answer):
    return [row["id"] for row in answer.json()["results"]]
