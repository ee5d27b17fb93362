"""Parse the body of a gate request. This runs before every tool call of every agent.

The models below are the only description of the body: they validate it, and the OpenAPI document is made from
them. Types are strict: `"5"` is no number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from controlplane.policy.model import ToolCall
from sessions.errors import GateInputError
from sessions.gate.limits import (
    MAX_HASHES,
    MAX_ID_LENGTH,
    MAX_INPUT_BYTES,
    MAX_LINKS,
    MAX_PATH_LENGTH,
    TOO_LONG,
)
from sessions.gate.request_errors import describe_body_error, describe_text_error
from sessions.lifecycle.open import Opening
from sessions.live.hold_open import MAX_WAIT_SECONDS

T = TypeVar("T")
B = TypeVar("B", bound="GateBody")


def _check_printable(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "")
    if not value.isprintable():
        raise PydanticCustomError("not_printable", "")
    return value


Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_LENGTH), AfterValidator(_check_printable)]
Path = Annotated[str, Field(max_length=MAX_PATH_LENGTH)]
Name = Annotated[str, Field(max_length=100)]
ContentHash = Annotated[str, StringConstraints(pattern="^(sha256:[0-9a-fA-F]{64})?$", to_lower=True)]
STRICT = ConfigDict(strict=True, extra="forbid")


class GateAgent(BaseModel):
    """What the client says about itself."""

    model_config = STRICT

    name: Annotated[Name | None, Field(description="claude-code, codex, …")] = None
    version: Name | None = None
    model: Annotated[str, Field(max_length=MAX_ID_LENGTH)] | None = None
    hook: Annotated[Name | None, Field(description="Version of the hook client.")] = None


class GateContainment(BaseModel):
    """How the client contains commands."""

    model_config = STRICT

    overlay: Annotated[bool, Field(description="Over a copy-on-write view of the workspace.")] = False
    landlock: Annotated[int, Field(ge=0, le=1000, description="The version of Landlock; 0 for none.")] = 0


class GateBody(BaseModel):
    """The fields are validated in this order; the first that is wrong is named in the answer."""

    model_config = STRICT

    session_id: Id
    tool: Id
    input: Annotated[Any, Field(description="The tool's input, a JSON object of at most 1 MiB.")]
    agent: GateAgent | None = None
    cwd: Path | None = None
    root: Path | None = None
    repository: Annotated[
        Path | None,
        Field(
            description="By which the agent's machine knows the repository in all its work trees. A call"
            " whose repository is its session's may name another of them as `root`."
        ),
    ] = None
    revision_id: Annotated[str, Field(max_length=MAX_ID_LENGTH)] | None = None
    tool_use_id: Annotated[str, Field(max_length=MAX_ID_LENGTH)] | None = None
    current_content_hashes: Annotated[
        dict[str, ContentHash | None] | None,
        Field(max_length=MAX_HASHES, description="Path to `sha256:…`, or to null for a missing file."),
    ] = None
    links: Annotated[
        dict[str, Path] | None,
        Field(
            max_length=MAX_LINKS,
            description="Paths of the workspace that stand for other places on the agent's machine, each "
            "with that place, relative to the root or absolute. Both names must be allowed; a hint opens "
            "nothing.",
        ),
    ] = None
    containment: Annotated[
        GateContainment | None,
        Field(description="What the client can contain, by its own word; absent where it cannot."),
    ] = None
    client_program: Annotated[
        Path | None,
        Field(
            description="Where the hook client is installed on the agent's machine. Its `wait APPROVAL`"
            " is safe to run, and refusals name it."
        ),
    ] = None
    wait_seconds: Annotated[float, Field(ge=0, le=MAX_WAIT_SECONDS)] = 0.0
    dry_run: bool = False


NO_AGENT = GateAgent()
ID: TypeAdapter[str] = TypeAdapter(Id)
AGENT_NAME: TypeAdapter[str] = TypeAdapter(
    Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_printable)]
)


@dataclass(frozen=True, slots=True)
class GateRequest:
    """A valid body as the gate uses it: the call, and what it says about its session."""

    session_id: str
    call: ToolCall
    opening: Opening
    wait_seconds: float
    dry_run: bool
    containment: Mapping[str, Any] = field(default_factory=dict)  # the client's word
    resumed: str = ""  # the approval that this very request has been held for


def parse_gate_request(data: Any, size: int) -> GateRequest:
    """Parse a decoded body whose raw form had `size` bytes. Raise GateInputError."""
    return to_gate_request(validate_body(GateBody, data, size))


def validate_body(model: type[B], data: Any, size: int) -> B:
    """Validate a body against the gate's model or one that extends it. Raise GateInputError."""
    if not isinstance(data, dict):
        raise GateInputError("The body must be a JSON object with session_id, tool and input.")
    # The limit is the input's. Only a body over it is encoded again to measure its input alone.
    if size > MAX_INPUT_BYTES and _encoded_size(data.get("input")) > MAX_INPUT_BYTES:
        raise GateInputError(TOO_LONG)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        names = (field.alias or name for name, field in model.model_fields.items())
        raise GateInputError(describe_body_error(error, names)) from error


def to_gate_request(body: GateBody) -> GateRequest:
    agent = body.agent or NO_AGENT
    hashes: dict[str, Any] = body.current_content_hashes or {}
    if None in hashes.values():  # both null and "" say that there is no such file
        hashes = {path: content_hash or "" for path, content_hash in hashes.items()}
    call = ToolCall(
        tool=body.tool,
        input=body.input,
        root=body.root or None,
        cwd=body.cwd or None,
        agent=agent.name or "",
        call_id=body.tool_use_id or None,
        current_content_hashes=hashes,
        links=body.links or {},
        can_contain=body.containment is not None and body.containment.overlay,
        client_program=body.client_program or "",
    )
    opening = Opening(
        session_id=body.session_id,
        agent_name=agent.name or "",
        agent_version=agent.version or "",
        agent_model=agent.model or "",
        hook_version=agent.hook or "",
        root=body.root or "",
        cwd=body.cwd or "",
        repository=body.repository or "",
        revision_id=body.revision_id or "",
    )
    claim = body.containment.model_dump() if body.containment is not None else {}
    return GateRequest(body.session_id, call, opening, body.wait_seconds, body.dry_run, claim)


def parse_field(name: str, value: Any, adapter: TypeAdapter[T]) -> T:
    """Validate a single value by the rule of one of the types above. Raise GateInputError."""
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False)[0]
        raise GateInputError(describe_text_error(name, details, required=True)) from error


def _encoded_size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
