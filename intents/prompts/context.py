"""Build the handshake's answer about an intent: XML for the model, JSON for the program around it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from intents.models import Intent
from intents.prompts.context_xml import render_intent_xml
from intents.prompts.recent_history import load_prompt_context
from intents.selectors import serialize_intent
from intents.store import to_values


def build_intent_context(intent: Intent) -> dict[str, Any]:
    """Return `{"context", "intent", "history", "files", "lessons"}`.

    At most 8 queries where the intent was fetched with its workspace.
    """
    context = load_prompt_context(intent)
    return {
        "context": render_intent_xml(to_values(intent), context),
        "intent": serialize_intent(intent),
        "history": [asdict(item) for item in context.history],
        "files": [asdict(item) for item in context.files],
        "lessons": [asdict(item) for item in context.lessons],
    }
