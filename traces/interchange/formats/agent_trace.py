"""Agent Trace 0.1.0 (github.com/cursor/agent-trace) in and out, without loss in either direction.

Out: what has no place in a record goes under `metadata["dev.icp"]`, the whole entry with it. In: that
entry is taken back where the record still says the same; any other record is converted and kept
whole under `original`, from which it is written out again.
"""

from __future__ import annotations

import re
import uuid
from typing import Any
from urllib.parse import quote, unquote

from traces.entry_schema import INTENT_TYPE, moment_of, problems, session_of

VERSION = "0.1.0"
OURS = "dev.icp"
COMPUTED = "computed_mutation_class"
MAX_MODEL_LENGTH = 250
INTENT_URN = "urn:icp:intent:"
SESSION_URN = "urn:icp:session:"
# The reference implementation files events under these names; they are no files of the workspace.
PSEUDO_FILES = frozenset({".shell-history", ".sessions", ".unknown"})
CONTRIBUTORS = frozenset({"human", "ai", "mixed", "unknown"})
PROVIDERS = (
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gpt-|o\d"), "openai"),
    (re.compile(r"gemini-"), "google"),
)

_VERSION = re.compile(r"\d+(?:\.\d+){0,2}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_record(value: dict[str, Any]) -> bool:
    """Whether this is an Agent Trace record rather than one of our entries."""
    version, files = value.get("version"), value.get("files")
    if not isinstance(version, str) or not _VERSION.fullmatch(version) or not isinstance(files, list):
        return False
    return all(
        isinstance(file, dict) and isinstance(file.get("path"), str) and "relative_path" not in file
        for file in files
    )


def to_entry(record: dict[str, Any]) -> dict[str, Any]:
    """A record as an entry. Fields of a wrong type are left for the entry's own check to name."""
    kept = _kept_entry(record)
    if kept is not None and to_record(kept, str(_ours(record).get("log", ""))) == record:
        return kept
    entry = {
        "id": record.get("id"),
        "timestamp": record.get("timestamp"),
        "vcs": _vcs_in(record.get("vcs")),
        "files": [_file_in(file) for file in record["files"] if file["path"] not in PSEUDO_FILES],
        "original": record,
    }
    mutation_class = _ours(record).get("mutation_class")
    return entry | ({"mutation_class": mutation_class} if mutation_class else {})


def to_record(entry: dict[str, Any], log: str) -> dict[str, Any]:
    """An entry as a record. `log` names the ledger: ids that are no UUIDs are derived from it."""
    original = entry.get("original")
    if isinstance(original, dict) and is_record(original):
        return original
    record: dict[str, Any] = {
        "version": VERSION,
        "id": _uuid(entry["id"], log),
        "timestamp": _utc(entry["timestamp"]),
        "tool": _tool(entry),
        "files": [_file_out(file) for file in entry["files"]],
        "metadata": {OURS: {"log": log, "mutation_class": entry.get("mutation_class"), **_computed(entry)}},
    }
    revision = (entry.get("vcs") or {}).get("revision_id")
    if isinstance(revision, str) and _COMMIT.fullmatch(revision):
        record["vcs"] = {"type": "git", "revision": revision}
    return record


def _computed(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry whole, and beside the class that its agent claimed the computed one, where there is one."""
    return {name: entry[name] for name in (COMPUTED,) if name in entry} | {"entry": entry}


def _ours(record: dict[str, Any]) -> dict[str, Any]:
    metadata = record.get("metadata")
    ours = metadata.get(OURS) if isinstance(metadata, dict) else None
    return ours if isinstance(ours, dict) else {}


def _kept_entry(record: dict[str, Any]) -> dict[str, Any] | None:
    """The entry that we once wrote into the record; None for anything that cannot be one."""
    entry = _ours(record).get("entry")
    return None if not isinstance(entry, dict) or problems(entry) else entry


def _vcs_in(vcs: Any) -> Any:
    if not isinstance(vcs, dict):
        return vcs
    return {"revision_id": vcs.get("revision"), **({"type": vcs["type"]} if "type" in vcs else {})}


def _file_in(file: dict[str, Any]) -> dict[str, Any]:
    talks = file.get("conversations", [])
    if not isinstance(talks, list):
        return {"relative_path": file["path"], "conversations": talks}
    return {"relative_path": file["path"], "conversations": [_conversation_in(talk) for talk in talks]}


def _conversation_in(talk: Any) -> Any:
    if not isinstance(talk, dict):
        return talk
    contributor = talk.get("contributor")
    related = talk.get("related", [])
    found: dict[str, Any] = {
        "contributor": _contributor_in(contributor),
        "ranges": talk.get("ranges", []),
        "related": [_related_in(one) for one in related] if isinstance(related, list) else related,
    }
    return ({"url": talk["url"]} if "url" in talk else {}) | found


def _contributor_in(contributor: Any) -> Any:
    if not isinstance(contributor, dict):
        return contributor
    kind = contributor.get("type")
    return {
        "entity_type": kind.upper() if isinstance(kind, str) else kind,
        "model_identifier": contributor.get("model_id"),
    }


def _related_in(related: Any) -> Any:
    if not isinstance(related, dict):
        return related
    url = related.get("url")
    if isinstance(url, str) and url.startswith(INTENT_URN):
        return {"type": INTENT_TYPE, "value": unquote(url.removeprefix(INTENT_URN))}
    return {"type": related.get("type"), "value": url}


def _file_out(file: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": file["relative_path"],
        "conversations": [_conversation_out(talk) for talk in file.get("conversations", [])],
    }


def _conversation_out(talk: dict[str, Any]) -> dict[str, Any]:
    url = talk.get("url")
    found: dict[str, Any] = (
        {"url": url if _is_uri(url) else f"{SESSION_URN}{quote(session_of(url), safe='')}"} if url else {}
    )
    if talk.get("contributor"):
        found["contributor"] = _contributor_out(talk["contributor"])
    found["ranges"] = [_range_out(one) for one in talk.get("ranges", []) if one["start_line"] >= 1]
    if talk.get("related"):
        found["related"] = [_related_out(one) for one in talk["related"]]
    return found


def _range_out(lines: dict[str, Any]) -> dict[str, Any]:
    found = {"start_line": lines["start_line"], "end_line": lines["end_line"]}
    return found | ({"content_hash": lines["content_hash"]} if lines.get("content_hash") else {})


def _contributor_out(contributor: dict[str, Any]) -> dict[str, Any]:
    kind = str(contributor.get("entity_type") or "unknown").lower()
    found = {"type": kind if kind in CONTRIBUTORS else "unknown"}
    model = contributor.get("model_identifier")
    return found | ({"model_id": _model_id(model)} if model else {})


def _model_id(model: str) -> str:
    """`provider/model`, as models.dev names them, where the provider can be told from the name."""
    provider = next((name for form, name in PROVIDERS if form.match(model)), None)
    return (f"{provider}/{model}" if provider and "/" not in model else model)[:MAX_MODEL_LENGTH]


def _related_out(related: dict[str, Any]) -> dict[str, Any]:
    value = related["value"]
    if related["type"] == INTENT_TYPE:
        return {"type": INTENT_TYPE, "url": f"{INTENT_URN}{quote(value, safe='')}"}
    return {
        "type": related["type"],
        "url": value if _is_uri(value) else f"urn:icp:related:{quote(value, safe='')}",
    }


def _is_uri(text: Any) -> bool:
    return isinstance(text, str) and re.match(r"[a-z][a-z0-9+.-]*:\S+$", text, re.IGNORECASE) is not None


def _tool(entry: dict[str, Any]) -> dict[str, str]:
    """Always both names: the published schema requires them, the README's does not mind."""
    tool = entry.get("tool")
    name = tool.get("name") if isinstance(tool, dict) else tool
    version = tool.get("version") if isinstance(tool, dict) else None
    return {"name": str(name or "unknown"), "version": str(version or "unknown")}


def _uuid(entry_id: str, log: str) -> str:
    try:
        return str(uuid.UUID(entry_id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{log}/{entry_id}"))


def _utc(timestamp: str) -> str:
    return moment_of(timestamp).isoformat(timespec="milliseconds").replace("+00:00", "Z")
