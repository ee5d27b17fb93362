"""Contained runs as a client reports them."""

from __future__ import annotations

import difflib
import hashlib
import re

CONTAINMENT = {"overlay": True, "landlock": 7}


def content_hash(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def diff(before: str, after: str, old: str = "a/x", new: str = "b/x") -> str:
    """As a client writes it."""
    sides = [re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after)]
    lines = difflib.unified_diff(*sides, old, new)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def created(path: str, text: str = "x\n", **fields):
    return {
        "path": path, "change": "created", "before": None, "after": content_hash(text), "size": len(text),
        "diff": diff("", text, "/dev/null", f"b/{path}"), "content": text, **fields,
    }  # fmt: skip


def modified(path: str, before: str, after: str, **fields):
    hashes = {"before": content_hash(before), "after": content_hash(after)}
    text = diff(before, after, f"a/{path}", f"b/{path}")
    return (
        {"path": path, "change": "modified", "size": len(after), "diff": text, "content": after}
        | hashes
        | fields
    )


def deleted(path: str, text: str = "x\n"):
    return {
        "path": path, "change": "deleted", "before": content_hash(text), "after": None, "size": 0,
        "diff": diff(text, "", f"a/{path}", "/dev/null"),
    }  # fmt: skip


def binary(path: str, size: int = 5_000_000):
    return created(path, content=None, diff=None, size=size)


def start(agent, command: str = "npm test", **call):
    """The terms of a command that the gate allows contained."""
    answer = agent.gate("Bash", command=command, containment=CONTAINMENT, **call)
    assert answer["decision"] == "allow", answer
    return answer["containment"]


def report(agent, run, *files, status=200, exit_code=0):
    body = {"exit_code": exit_code, "duration_ms": 1200, "files": list(files)}
    response = agent.post(f"runs/{run['run_id']}/effects", body)
    assert response.status_code == status, response.json()
    return response.json()


def land(agent, run, **body):
    response = agent.post(f"runs/{run['run_id']}/land", body)
    assert response.status_code == 200, response.json()
    return response.json()


def decide(client, approval_id, action="approve", status=200, **fields):
    response = client.post(f"approvals/{approval_id}/decide", {"action": action, **fields})
    assert response.status_code == status, response.json()
    return response.json()
