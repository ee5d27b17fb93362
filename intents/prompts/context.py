"""The handshake's answer about an intent: XML for the model, JSON for the program around it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from intents.models import Intent
from intents.prompts.context_xml import context_xml
from intents.prompts.recent_history import surroundings_of
from intents.selectors import intent_document
from intents.store import values_of


def intent_context(intent: Intent) -> dict[str, Any]:
    """`{"context", "intent", "history", "files", "lessons"}` of an intent.

    7 queries where its workspace was fetched along.
    """
    around = surroundings_of(intent)
    return {
        "context": context_xml(values_of(intent), around),
        "intent": intent_document(intent),
        "history": [asdict(item) for item in around.history],
        "files": [asdict(item) for item in around.files],
        "lessons": [asdict(item) for item in around.lessons],
    }
