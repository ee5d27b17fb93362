"""Small documents to begin a test with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parent / "data"


def intent(intent_id: str = "INT-001", **fields: Any) -> dict[str, Any]:
    """A sound intent in its document form."""
    return {
        "id": intent_id,
        "name": f"Work {intent_id}",
        "status": "IN_PROGRESS",
        "owned_scope": [f"src/{intent_id.lower()}/**"],
        "constraints": ["Keep the API"],
        "acceptance_criteria": ["Tests pass"],
        **fields,
    }


def file_of(*intents: dict[str, Any], **beside: Any) -> bytes:
    """The bytes of an active_intents.yaml."""
    document = {"active_intents": list(intents), **beside}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode()
