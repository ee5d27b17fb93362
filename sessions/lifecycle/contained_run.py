"""Open a contained run: its terms, as the answer of the gate states them (contract 8), and its row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controlplane.policy.effects import Effect, PartEffect
from controlplane.policy.model import Decision, Snapshot, ToolCall
from controlplane.shared.masking import to_storable
from sessions.models import AgentSession, ContainedRun, new_id

MAX_SECONDS = 3600
# Effects that reach another machine. One that policy, an intent or a person permits opens the network.
NETWORK_EFFECTS = frozenset({Effect.FETCHES, Effect.BROWSES, Effect.INSTALLS, Effect.SENDS})
# Effects of code that nobody has read. Beside it no part gets the network: it would have it as well.
CODE_EFFECTS = frozenset({Effect.RUNS_PROJECT, Effect.RUNS_CODE, Effect.UNKNOWN})


def build_run(
    session: AgentSession, snapshot: Snapshot, call: ToolCall, decision: Decision, claim: Mapping[str, Any]
) -> ContainedRun:
    """Return the run of a call that is allowed contained, not yet saved. `claim` is the client's word."""
    run_id = new_id()
    command = call.input.get("command") or call.input.get("cmd") or ""
    return ContainedRun(
        public_id=run_id,
        workspace_id=session.workspace_id,
        session=session,
        tool=call.tool,
        command=to_storable(command if isinstance(command, str) else str(command)),
        claim=dict(claim),
        terms=build_terms(run_id, snapshot, decision.effects),
    )


def save_run(run: ContainedRun, decision_id: str) -> None:
    """Save the run of a recorded decision; a retry of the call becomes the first one's run. 2 statements."""
    fields = ("public_id", "workspace_id", "session_id", "tool", "command", "claim", "terms")
    saved, _ = ContainedRun.objects.get_or_create(
        decision_id=decision_id, defaults={name: getattr(run, name) for name in fields}
    )
    run.pk, run.public_id, run.terms = saved.pk, saved.public_id, saved.terms


def build_terms(run_id: str, snapshot: Snapshot, effects: tuple[PartEffect, ...]) -> dict[str, Any]:
    """Return the `containment` of an answer that allows a command."""
    intent, policy = snapshot.intent, snapshot.policy
    return {
        "run_id": run_id,
        "writable": list(intent.owned_scope) if intent is not None else [],
        "hidden": list_hidden_patterns(snapshot.intentignore),
        "places": [place.pattern for place in policy.places if place.access == "write"],
        "network": choose_network(effects),
        "seconds": MAX_SECONDS,
    }


def choose_network(effects: tuple[PartEffect, ...]) -> str:
    """Return "open" where a part needs the network and no code runs beside it that could send what it reads.

    Every part of the command is permitted by now, those that reach the network included.
    """
    found = {effect.effect for effect in effects}
    return "open" if found & NETWORK_EFFECTS and not found & CODE_EFFECTS else "none"


def list_hidden_patterns(intentignore: str) -> list[str]:
    """Return the path patterns of an ignore file; its `intent:` lines and comments name no files."""
    lines = (line.rstrip("\r") for line in intentignore.split("\n"))
    return [line for line in lines if line.strip() and not line.startswith(("#", "intent:"))]
