"""The body of a gate request, checked by hand: this runs before every tool call of every agent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from controlplane.policy.model import ToolCall
from sessions.errors import GateInputError
from sessions.lifecycle.open import Opening, opening_from
from sessions.live.hold_open import MAX_WAIT_SECONDS

MAX_INPUT_BYTES = 1024 * 1024
MAX_ID_LENGTH = 200
MAX_PATH_LENGTH = 4096
MAX_HASHES = 10_000
MAX_LINKS = 1_000
MAX_BODY_BYTES = MAX_INPUT_BYTES + 256 * 1024  # room for what stands beside the input
TOO_LONG = f"The input is over {MAX_INPUT_BYTES} bytes. Split the change into smaller ones."
KNOWN = frozenset(
    {
        "session_id", "tool", "input", "tool_use_id", "cwd", "root", "agent",
        "current_content_hashes", "links", "wait_seconds", "dry_run", "revision_id",
    }
)  # fmt: skip
AGENT_FIELDS = {"name": 100, "version": 100, "model": 200, "hook": 100}


@dataclass(frozen=True, slots=True)
class GateRequest:
    session_id: str
    call: ToolCall
    opening: Opening
    wait_seconds: float
    dry_run: bool
    resumed: str = ""  # the approval that this very request has been held for


def parse_gate_request(data: Any, size: int) -> GateRequest:
    """`size` is the raw body's length in bytes. Raise GateInputError."""
    if not isinstance(data, dict):
        raise GateInputError("The body must be a JSON object with session_id, tool and input.")
    if (
        size > MAX_INPUT_BYTES
        and len(json.dumps(data.get("input"), ensure_ascii=False).encode()) > MAX_INPUT_BYTES
    ):
        raise GateInputError(TOO_LONG)
    unknown = sorted(set(data) - KNOWN)
    if unknown:
        raise GateInputError(f"Unknown field {unknown[0]!r}. Known are: {', '.join(sorted(KNOWN))}.")
    session_id = text_field(data, "session_id", MAX_ID_LENGTH, required=True)
    tool = text_field(data, "tool", MAX_ID_LENGTH, required=True)
    if "input" not in data:
        raise GateInputError("The field input is missing: send the tool's input as a JSON object.")
    clean = {**data, "agent": agent_field(data), "session_id": session_id}
    for name in ("cwd", "root"):
        clean[name] = text_field(data, name, MAX_PATH_LENGTH)
    clean["revision_id"] = text_field(data, "revision_id", MAX_ID_LENGTH)
    call = ToolCall(
        tool=tool,
        input=data["input"],
        root=clean["root"] or None,
        cwd=clean["cwd"] or None,
        agent=clean["agent"].get("name", ""),
        call_id=text_field(data, "tool_use_id", MAX_ID_LENGTH) or None,
        current_content_hashes=hashes_field(data),
        links=links_field(data),
    )
    return GateRequest(
        session_id, call, opening_from(clean), wait_field(data), boolean_field(data, "dry_run")
    )


def text_field(data: dict[str, Any], name: str, most: int, *, required: bool = False) -> str:
    value = data.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise GateInputError(f"The field {name} must be a text{' that is not empty' if required else ''}.")
    if len(value) > most:
        raise GateInputError(f"The field {name} is longer than {most} characters.")
    if required and not value.isprintable():
        raise GateInputError(f"The field {name} holds control or invisible characters.")
    return value


def agent_field(data: dict[str, Any]) -> dict[str, str]:
    agent = data.get("agent")
    if agent is None:
        return {}
    if not isinstance(agent, dict) or set(agent) - set(AGENT_FIELDS):
        raise GateInputError("The field agent must be an object with name, version, model and hook.")
    return {name: text_field(agent, name, most) for name, most in AGENT_FIELDS.items()}


def hashes_field(data: dict[str, Any]) -> dict[str, str]:
    hashes = data.get("current_content_hashes")
    if hashes is None:
        return {}
    if not isinstance(hashes, dict) or len(hashes) > MAX_HASHES:
        raise GateInputError(
            "current_content_hashes must be an object: path to sha256:… (or null for a missing file)."
        )
    return {path: known_hash(path, value) for path, value in hashes.items()}


def links_field(data: dict[str, Any]) -> dict[str, str]:
    links = data.get("links")
    if links is None:
        return {}
    whole = isinstance(links, dict) and len(links) <= MAX_LINKS
    if not whole or not all(
        isinstance(place, str) and len(place) <= MAX_PATH_LENGTH for place in links.values()
    ):
        raise GateInputError(f"links must be an object of at most {MAX_LINKS} paths: link to where it leads.")
    return dict(links)


def known_hash(path: str, value: Any) -> str:
    """`null` and an empty text say that there is no such file."""
    if value is None or value == "":
        return ""
    if not (isinstance(value, str) and value.startswith("sha256:") and len(value) == 71):
        raise GateInputError(f"current_content_hashes[{json.dumps(path)}] is not sha256: and 64 hex digits.")
    return value.lower()


def wait_field(data: dict[str, Any]) -> float:
    value = data.get("wait_seconds", 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_WAIT_SECONDS:
        raise GateInputError(f"wait_seconds must be a number from 0 to {MAX_WAIT_SECONDS}.")
    return float(value)


def boolean_field(data: dict[str, Any], name: str) -> bool:
    value = data.get(name, False)
    if not isinstance(value, bool):
        raise GateInputError(f"{name} must be true or false.")
    return value
