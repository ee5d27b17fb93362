"""The JSON schema of Agent Trace records, as strict as the specification allows."""

from __future__ import annotations

# The published rules of Agent Trace 0.1.0 in their strict reading: nothing beyond the named fields, both
# names of a tool, at least line 1, URIs where they are asked for.
URI = {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$"}


def strict(required, **properties):
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


CONTRIBUTOR = strict(
    ["type"],
    type={"enum": ["human", "ai", "mixed", "unknown"]},
    model_id={"type": "string", "maxLength": 250},
)


RANGE = strict(
    ["start_line", "end_line"],
    start_line={"type": "integer", "minimum": 1},
    end_line={"type": "integer", "minimum": 1},
    content_hash={"type": "string"},
    contributor=CONTRIBUTOR,
)


CONVERSATION = strict(
    ["ranges"],
    url=URI,
    contributor=CONTRIBUTOR,
    ranges={"type": "array", "items": RANGE},
    related={"type": "array", "items": strict(["type", "url"], type={"type": "string"}, url=URI)},
)


RECORD = strict(
    ["version", "id", "timestamp", "files"],
    version={"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
    id={"type": "string", "pattern": r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
    timestamp={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"},
    vcs=strict(["type", "revision"], type={"enum": ["git", "jj", "hg", "svn"]}, revision={"type": "string"}),
    tool=strict(["name", "version"], name={"type": "string"}, version={"type": "string"}),
    files={
        "type": "array",
        "items": strict(
            ["path", "conversations"],
            path={"type": "string"},
            conversations={"type": "array", "items": CONVERSATION},
        ),
    },
    metadata={"type": "object"},
)
