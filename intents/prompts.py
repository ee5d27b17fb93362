"""The governance section for a session: looks up what the section speaks of, and has it worded."""

from __future__ import annotations

from controlplane.policy.model import Registry
from intents import prompt_sections, registry
from intents.history import surroundings_of
from intents.models import Intent
from intents.selectors import available_intents
from intents.store import values_of


def governance_section(workspace_id: int, intent: Intent | None) -> str:
    """Before selection (`intent` None) 3 queries, after it 6."""
    if intent is not None:
        return prompt_sections.after_selection(values_of(intent), surroundings_of(intent))
    state = registry.state_of(workspace_id)
    if state in {Registry.MISSING, Registry.CORRUPT}:
        return prompt_sections.unavailable(registry.unavailable_text(state))
    return prompt_sections.before_selection(available_intents(workspace_id))
