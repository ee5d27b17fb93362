"""What agents do and what git then says, over REST."""

from __future__ import annotations

import hashlib

ROOT = "/home/ada/acme"
BASE, HEAD = "a" * 40, "b" * 40


def sha(text):
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def changed(path, text=None, **more):
    return {"path": path, "status": "M" if text is not None else "D", **more} | (
        {"content_hash": sha(text)} if text is not None else {}
    )


def posted(speaker, *files, status=201, **more):
    answer = speaker.post(
        "reconciliations" + more.pop("query", ""), {"base": BASE, "head": HEAD, "files": files, **more}
    )
    assert answer.status_code == status, answer.content
    return answer.json()


def found(speaker, *files, **more):
    """(outcome, reason) by path."""
    answer = posted(speaker, *files, **more)
    return {one["path"]: (one["outcome"], one["reason"]) for one in answer["findings"] + answer["explained"]}


def write(agent, path, text, session="s-1", tool="Write"):
    answer = agent.gate(tool, session, file_path=f"{ROOT}/{path}", content=text, root=ROOT, cwd=ROOT)
    trace(agent, path, text, session)
    return answer


def trace(agent, path, text, session="s-1"):
    told = {"content": text} if text is not None else {"content_hash": "DELETED"}
    assert agent.post(f"sessions/{session}/traces", {"path": path, **told}).status_code == 201
