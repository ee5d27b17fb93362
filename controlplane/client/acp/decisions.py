"""A person decides about a call in the editor or in the queue; the first decision counts."""

from __future__ import annotations

from controlplane.client.acp.gate_client import GateClient, Verdict
from controlplane.client.commands.wait import describe_decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Any

ALLOW, REJECT = "allow_once", "reject_once"
REJECTED_HERE = "Rejected in the editor."
CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}


def run_apart(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Run a function in a thread that does not keep the program alive."""
    import threading
    from concurrent.futures import Future

    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except Exception as problem:  # noqa: BLE001  whoever waits for the result gets it
            future.set_exception(problem)

    threading.Thread(target=run, daemon=True).start()
    return future


class PersonsDecision:
    """Settles the calls of one question that wait for a person. `editor` is the editor's coming answer."""

    def __init__(self, gate: GateClient, editor: Future[Any], options: list[Any], reviewer: str) -> None:
        self.gate, self.editor, self.options, self.reviewer = gate, editor, options, reviewer

    def settle(self, call: tuple[str, dict[str, Any]], call_id: str, asked: Verdict) -> Verdict:
        """Return the gate's verdict on a call once a person has decided.

        What is allowed in the editor counts with a reviewer's token; without one, the queue decides all the
        same. What is rejected there is not run.
        """
        from concurrent.futures import FIRST_COMPLETED, wait

        queue = run_apart(self.gate.await_decision, asked.approval)
        wait({queue, self.editor}, return_when=FIRST_COMPLETED)
        if not queue.done():
            is_allowed = self.is_allowed_in_editor()
            if self.reviewer:
                self.gate.decide(asked.approval, "approve" if is_allowed else "reject", self.reviewer)
            if not is_allowed:
                return Verdict("deny", REJECTED_HERE)
        try:
            approval = queue.result()
        except Exception as problem:  # noqa: BLE001  nobody knows what was decided
            return Verdict("deny", f"{asked.text} {problem}")
        if approval["status"] == "APPROVED":
            return self.gate.check(call[0], call[1], call_id)
        return Verdict("deny", f"{asked.text} {describe_decision(approval)}")

    def is_allowed_in_editor(self) -> bool:
        """Whether the editor's answer allows the call once; an error or a cancelled prompt does not."""
        allowing = [option for option in self.options if option.get("kind") == ALLOW]
        return self.editor.exception() is None and selects_one(self.editor.result(), allowing)


def selects_one(answer: Any, options: list[Any]) -> bool:
    """Whether an answer selects one of these options."""
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
    return chosen is not None and any(option.get("optionId") == chosen for option in options)


def select_option(options: list[Any], kind: str) -> dict[str, Any]:
    """Return the answer to a question that selects an option of this kind; without one, it is cancelled."""
    for option in options:
        if option.get("kind") == kind:
            return {"outcome": {"outcome": "selected", "optionId": option.get("optionId")}}
    return CANCELLED
