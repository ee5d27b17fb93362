"""Convert between entries and Agent Trace 0.1.0 (github.com/cursor/agent-trace) without loss.

Out: what has no place in a record goes under `metadata["dev.icp"]`, with the complete entry. In: that entry
is restored if the record still says the same; any other record is converted, and stored under `original`,
from which it is written out again.
"""

from __future__ import annotations

import re
import uuid
from typing import Any
from urllib.parse import quote, unquote

from traces.entry_schema import (
    COMPUTED_CLASS_FIELD,
    INTENT_TYPE,
    find_field_errors,
    parse_session_id,
    parse_timestamp,
)

VERSION = "0.1.0"
METADATA_KEY = "dev.icp"
MAX_MODEL_LENGTH = 250
INTENT_URN = "urn:icp:intent:"
SESSION_URN = "urn:icp:session:"
# The reference implementation files events under these names; they are not files of the workspace.
PSEUDO_FILES = frozenset({".shell-history", ".sessions", ".unknown"})
CONTRIBUTOR_TYPES = frozenset({"human", "ai", "mixed", "unknown"})
PROVIDER_PATTERNS = (
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gpt-|o\d"), "openai"),
    (re.compile(r"gemini-"), "google"),
)

_VERSION = re.compile(r"\d+(?:\.\d+){0,2}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_record(value: dict[str, Any]) -> bool:
    """Whether this is an Agent Trace record rather than an entry of ours."""
    version, files = value.get("version"), value.get("files")
    if not isinstance(version, str) or not _VERSION.fullmatch(version) or not isinstance(files, list):
        return False
    return all(
        isinstance(file, dict) and isinstance(file.get("path"), str) and "relative_path" not in file
        for file in files
    )


def to_entry(record: dict[str, Any]) -> dict[str, Any]:
    """Convert a record. Fields of a wrong type are left for the validation of the entry to report."""
    embedded = _find_embedded_entry(record)
    # Anybody may have edited the record since: the embedded entry counts only if it still gives this record.
    if embedded is not None and to_record(embedded, str(_get_metadata(record).get("log", ""))) == record:
        return embedded
    entry = {
        "id": record.get("id"),
        "timestamp": record.get("timestamp"),
        "vcs": _to_entry_vcs(record.get("vcs")),
        "files": [_to_entry_file(file) for file in record["files"] if file["path"] not in PSEUDO_FILES],
        "original": record,
    }
    mutation_class = _get_metadata(record).get("mutation_class")
    return entry | ({"mutation_class": mutation_class} if mutation_class else {})


def to_record(entry: dict[str, Any], log: str) -> dict[str, Any]:
    """Convert an entry. `log` names the ledger: ids that are not UUIDs derive from it."""
    original = entry.get("original")
    if isinstance(original, dict) and is_record(original):
        return original
    record: dict[str, Any] = {
        "version": VERSION,
        "id": _to_uuid(entry["id"], log),
        "timestamp": _to_utc(entry["timestamp"]),
        "tool": _describe_tool(entry),
        "files": [_to_record_file(file) for file in entry["files"]],
        "metadata": {
            METADATA_KEY: {
                "log": log,
                "mutation_class": entry.get("mutation_class"),
                **_describe_entry(entry),
            }
        },
    }
    revision = (entry.get("vcs") or {}).get("revision_id")
    if isinstance(revision, str) and _COMMIT.fullmatch(revision):
        record["vcs"] = {"type": "git", "revision": revision}
    return record


def _describe_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the complete entry and, where there is one, the class that was computed for it."""
    return {name: entry[name] for name in (COMPUTED_CLASS_FIELD,) if name in entry} | {"entry": entry}


def _get_metadata(record: dict[str, Any]) -> dict[str, Any]:
    metadata = record.get("metadata")
    value = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    return value if isinstance(value, dict) else {}


def _find_embedded_entry(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the entry that we once wrote into the record; None for anything that is not a valid one."""
    entry = _get_metadata(record).get("entry")
    return None if not isinstance(entry, dict) or find_field_errors(entry) else entry


def _to_entry_vcs(vcs: Any) -> Any:
    if not isinstance(vcs, dict):
        return vcs
    return {"revision_id": vcs.get("revision"), **({"type": vcs["type"]} if "type" in vcs else {})}


def _to_entry_file(file: dict[str, Any]) -> dict[str, Any]:
    conversations = file.get("conversations", [])
    if not isinstance(conversations, list):
        return {"relative_path": file["path"], "conversations": conversations}
    return {
        "relative_path": file["path"],
        "conversations": [_to_entry_conversation(conversation) for conversation in conversations],
    }


def _to_entry_conversation(conversation: Any) -> Any:
    if not isinstance(conversation, dict):
        return conversation
    contributor = conversation.get("contributor")
    related = conversation.get("related", [])
    fields: dict[str, Any] = {
        "contributor": _to_entry_contributor(contributor),
        "ranges": conversation.get("ranges", []),
        "related": [_to_entry_related(item) for item in related] if isinstance(related, list) else related,
    }
    return ({"url": conversation["url"]} if "url" in conversation else {}) | fields


def _to_entry_contributor(contributor: Any) -> Any:
    if not isinstance(contributor, dict):
        return contributor
    kind = contributor.get("type")
    return {
        "entity_type": kind.upper() if isinstance(kind, str) else kind,
        "model_identifier": contributor.get("model_id"),
    }


def _to_entry_related(related: Any) -> Any:
    if not isinstance(related, dict):
        return related
    url = related.get("url")
    if isinstance(url, str) and url.startswith(INTENT_URN):
        return {"type": INTENT_TYPE, "value": unquote(url.removeprefix(INTENT_URN))}
    return {"type": related.get("type"), "value": url}


def _to_record_file(file: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": file["relative_path"],
        "conversations": [
            _to_record_conversation(conversation) for conversation in file.get("conversations", [])
        ],
    }


def _to_record_conversation(conversation: dict[str, Any]) -> dict[str, Any]:
    url = conversation.get("url")
    fields: dict[str, Any] = (
        {"url": url if _is_uri(url) else f"{SESSION_URN}{quote(parse_session_id(url), safe='')}"}
        if url
        else {}
    )
    if conversation.get("contributor"):
        fields["contributor"] = _to_record_contributor(conversation["contributor"])
    fields["ranges"] = [
        _to_record_range(line_range)
        for line_range in conversation.get("ranges", [])
        if line_range["start_line"] >= 1
    ]
    if conversation.get("related"):
        fields["related"] = [_to_record_related(item) for item in conversation["related"]]
    return fields


def _to_record_range(line_range: dict[str, Any]) -> dict[str, Any]:
    fields = {"start_line": line_range["start_line"], "end_line": line_range["end_line"]}
    return fields | ({"content_hash": line_range["content_hash"]} if line_range.get("content_hash") else {})


def _to_record_contributor(contributor: dict[str, Any]) -> dict[str, Any]:
    kind = str(contributor.get("entity_type") or "unknown").lower()
    fields = {"type": kind if kind in CONTRIBUTOR_TYPES else "unknown"}
    model = contributor.get("model_identifier")
    return fields | ({"model_id": _to_model_id(model)} if model else {})


def _to_model_id(model: str) -> str:
    """Return `provider/model`, as models.dev names them, where the name tells the provider."""
    provider = next((name for pattern, name in PROVIDER_PATTERNS if pattern.match(model)), None)
    return (f"{provider}/{model}" if provider and "/" not in model else model)[:MAX_MODEL_LENGTH]


def _to_record_related(related: dict[str, Any]) -> dict[str, Any]:
    value = related["value"]
    if related["type"] == INTENT_TYPE:
        return {"type": INTENT_TYPE, "url": f"{INTENT_URN}{quote(value, safe='')}"}
    return {
        "type": related["type"],
        "url": value if _is_uri(value) else f"urn:icp:related:{quote(value, safe='')}",
    }


def _is_uri(text: Any) -> bool:
    return isinstance(text, str) and re.match(r"[a-z][a-z0-9+.-]*:\S+$", text, re.IGNORECASE) is not None


def _describe_tool(entry: dict[str, Any]) -> dict[str, str]:
    """Return both names always: the published schema requires them, the README does not mind."""
    tool = entry.get("tool")
    name = tool.get("name") if isinstance(tool, dict) else tool
    version = tool.get("version") if isinstance(tool, dict) else None
    return {"name": str(name or "unknown"), "version": str(version or "unknown")}


def _to_uuid(entry_id: str, log: str) -> str:
    try:
        return str(uuid.UUID(entry_id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{log}/{entry_id}"))


def _to_utc(timestamp: str) -> str:
    return parse_timestamp(timestamp).isoformat(timespec="milliseconds").replace("+00:00", "Z")
