"""What a hook says of containment, and the marks by which it knows that a call is to run contained.

Little is here, because every call loads it; `commands.contained_call` has the rest.
"""

from __future__ import annotations

import os

from controlplane.client.fast_json import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATE_FOLDER = os.path.join(os.path.expanduser("~"), ".local", "state", "icp")
TERMS_KEY = "icp_containment"  # in the control plane's answer, next to what the client reads
OWN_CALL = b"/icp.py run "  # in the payload of each call that runs this client's own program
# Clients that run a call which a hook has changed. For others the gate asks a person, as it did before.
REWRITING_CLIENTS = frozenset({"claude-code", "codex", "gemini-cli", "copilot", "opencode", "kilo", "cursor"})


def describe_containment(agent: str) -> dict[str, Any] | None:
    """Return the `containment` of a hook's request; None where the client runs no changed call."""
    return read_containment() if agent in REWRITING_CLIENTS else None


def read_containment() -> dict[str, Any] | None:
    """Return how this machine contains commands; None where it cannot, or nobody has tried."""
    try:
        with open(f"{STATE_FOLDER}/containment.json", "rb") as file:
            found = parse_json(file.read())
    except (OSError, ValueError):
        return None
    return {"overlay": True, "landlock": found["landlock"]} if found.get("reason") == "" else None


def has_held_runs() -> bool:
    """Return whether changes of a run wait on this disk; the answer costs one call of the system."""
    try:
        return bool(os.listdir(f"{STATE_FOLDER}/held"))
    except OSError:
        return False
