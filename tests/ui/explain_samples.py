"""Contexts for the Explain page: empty, a call that was tried, a recorded decision."""

from controlplane.pages import styleguide
from sessions.explain.form import KINDS, ExplainInput, OptionGroup, SelectOption
from sessions.explain.pages import LOOKS
from tests.ui.hostile import AGO, HOSTILE, NOW


def form(**found):
    choices = [SelectOption("intent:INT-001", f"INT-001 {HOSTILE}")]
    return {
        "form_input": ExplainInput(text=HOSTILE, tool=HOSTILE, cwd=HOSTILE, viewpoint="intent:INT-001"),
        "kinds": KINDS,
        "viewpoints": [
            OptionGroup("As if this intent were taken", choices),
            OptionGroup("As in this session"),
        ],
        "error": "",
        "result": None,
        "recorded": None,
    } | found


def result():
    steps = [
        {"number": n, "name": "Targets", "saw": HOSTILE, "look": look, "word": word, "text": HOSTILE}
        for n, (look, word) in enumerate(LOOKS.values(), 1)
    ]
    return {
        "verdict": "ask",
        "answered": "allow",
        "error": HOSTILE,
        "error_type": "SCOPE_VIOLATION",
        "reason": "not_in_scope",
        "tool_class": "destructive",
        "targets": [HOSTILE],
        "nearest": HOSTILE,
        "unknown": [HOSTILE],
        "revisions": {"workspace": 12, "session": None, "intent": 7},
        "intent_id": "INT-001",
        "steps": steps,
        "command": styleguide.shell_sample(NOW)["preview"]["command"],
    }


def recorded(**changes):
    return {
        "id": "d-1",
        "at": AGO,
        "session_id": "s-1",
        "intent_id": "INT-001",
        "tool": HOSTILE,
        "outcome": "ask",
        "error": HOSTILE,
        "approval_id": "A-1",
        "lost": "",
    } | changes


PAGES = {
    "explain/empty": ("explain/explain.html", lambda: form(error=HOSTILE)),
    "explain/tried": ("explain/explain.html", lambda: form(result=result())),
    "explain/recorded": ("explain/explain.html", lambda: form(recorded=recorded(), result=result())),
    "explain/lost": ("explain/explain.html", lambda: form(recorded=recorded(lost="it was masked"))),
}
