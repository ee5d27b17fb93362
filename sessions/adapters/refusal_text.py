"""Word a denial for the model: the reason and the next step. Every client shows this text to its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions.adapters.hook_call import HookAnswer

NEXT_STEPS: Mapping[str, str] = {
    "select_active_intent": "Next: call the tool select_active_intent with the id of an available intent.",
    "request_scope_expansion": "Next: keep to the intent's scope, or call request_scope_expansion with the "
    "patterns that you need and the reason.",
    "read_file": "Next: read the file again, then repeat the change.",
    "start_new_session": "Next: stop here and ask the user to start a new session.",
    "create_intent": "Next: ask the user to register an intent, then call select_active_intent with it.",
    "revise_change": "Next: change the call so that it keeps to the constraint, and send it again.",
    "retry": "Next: correct the call and send it again; if it is refused once more, tell the user.",
}
NOT_DECIDED = "The control plane gave no decision, so the tool must not run."


def to_hook_answer(gate_answer: Mapping[str, Any], program: str = "") -> HookAnswer:
    """Convert the gate's answer. An `ask` is a denial here, since no client may run the tool on it.

    `program` is the installed client, by which the agent can wait for a person's decision.
    """
    if gate_answer["decision"] == "allow":
        terms = gate_answer["containment"]
        if terms is not None:
            terms = {**terms, "session_id": gate_answer["session_id"]}
        return HookAnswer(context=gate_answer["context"] or "", containment=terms)
    reason = gate_answer["error"] or NOT_DECIDED
    return HookAnswer(denied=True, text=f"{reason} {_next_step(gate_answer, program)}".rstrip())


def _next_step(gate_answer: Mapping[str, Any], program: str) -> str:
    approval = gate_answer["approval"]
    if gate_answer["decision"] == "ask" and approval:
        wait = f" To learn when: `{program} wait {approval['id']}` in the background." if program else ""
        return (
            f"A human must approve this call first (approval {approval['id']}, {approval['url']}). Next: "
            f"tell the user so, then send the same call again, unchanged: it runs once it is approved.{wait}"
        )
    return NEXT_STEPS.get(gate_answer["action_hint"] or "", "")


def failure_answer(error: str) -> HookAnswer:
    """Answer a request that could not be decided: unauthenticated, malformed, or an error of the server."""
    return HookAnswer(denied=True, text=f"{error} {NOT_DECIDED}")
