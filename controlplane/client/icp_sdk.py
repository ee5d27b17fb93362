"""SDK for agents that you write yourself. One file, Python 3.9 or later, no dependencies.

    from icp_sdk import ControlPlane, Denied

    icp = ControlPlane("https://icp.example.org", token, agent="my-agent", root="/home/ada/acme")

    @icp.tool(records="path")                  # asks before each call, reports the change after it
    def write_file(path: str, content: str) -> str: ...

    with icp:                                  # opens the session, and ends it however the block ends
        icp.select_intent("INT-001")
        decision = icp.check("write_file", {"path": "src/a.py", "content": "…"}, wait=300)

`AsyncControlPlane` has the same methods as coroutines. Every failure (no response, an invalid response, a
revoked token) denies the call: a tool runs only after an `allow`.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import http.client
import inspect
import json
import os
import time
import urllib.error
import urllib.request
import uuid
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from typing import Self

MAX_WAIT = 50.0  # seconds to hold one call; a longer wait sends it again
TIMEOUT_MARGIN = 15.0  # seconds for network and server in addition
UNREACHABLE = "The gate did not answer, so the tool must not run: {}. Try again later, or tell a person."


@dataclass(frozen=True)
class Decision:
    """The gate's decision. `text` tells the model why, and what to do next."""

    verdict: str  # allow | deny | ask: a person must approve first, then the same call is sent again
    text: str = ""
    error_type: str | None = None
    reason: str | None = None
    approval: dict[str, Any] | None = None  # id, status, url, expires_at
    answer: dict[str, Any] = field(default_factory=dict, repr=False)  # the complete response
    call_id: str = ""  # to report the change under

    @property
    def allowed(self) -> bool:
        return self.verdict == "allow"

    @property
    def targets(self) -> list[str]:
        """The files that an allowed call changes; none for a call that only reads."""
        changes = self.allowed and self.answer.get("classification") == "destructive"
        return [path for path in self.answer.get("targets") or () if path] if changes else []


class Denied(Exception):
    """The gate denied a call, so the tool did not run. The message is for the model."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.text)
        self.decision = decision


class Refused(Exception):
    """The control plane rejected a request; `status` is the HTTP status, 0 without a response."""

    def __init__(self, status: int, text: str, answer: dict[str, Any]) -> None:
        super().__init__(text)
        self.status, self.answer = status, answer


class ControlPlane:
    """One session of one agent. Safe to share between threads.

    `tools` gives tools of yours the names by which the gate knows such tools: `{"run_command": "shell"}`.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        agent: str,
        root: str | os.PathLike[str] = "",
        session_id: str = "",
        model: str = "",
        tools: Mapping[str, str] | None = None,
    ) -> None:
        if not url.startswith(("https://", "http://")):
            raise ValueError("The URL of the control plane must begin with https:// or http://.")
        self.url, self.root = url.rstrip("/"), os.fspath(root or os.getcwd())
        self.session_id = session_id or str(uuid.uuid4())
        self._token, self._tools = token, dict(tools or {})
        self._agent = {"name": agent, **({"model": model} if model else {})}

    # --- the session ---------------------------------------------------------------------------

    def open(self) -> dict[str, Any]:
        """Open the session, or find it. Return its state, prompt section and available intents."""
        opening = {"session_id": self.session_id, "agent": self._agent, "root": self.root}
        return self._ask("POST", "sessions", opening)

    def prompt(self) -> str:
        """Return the section for the system prompt in the session's current state."""
        return str(self.open()["prompt"])

    def select_intent(self, intent_id: str) -> dict[str, Any]:
        """Select an intent. Return its context, as `context` (XML) and `intent`. Raise Refused."""
        self.open()
        answer = self._session("select-intent", {"intent_id": intent_id})
        if answer.get("success") is not True:
            raise Refused(200, str(answer.get("error")), answer)
        return answer

    def request_scope(
        self, patterns: list[str], reason: str, *, kinds: list[str] | None = None, access: str = "write"
    ) -> dict[str, Any]:
        """Ask once for patterns to write and kinds of commands, or for places to read (`access="read"`).

        Return the approval that a person decides on.
        """
        body = {"patterns": patterns, "reason": reason}
        if kinds or access != "write":
            body |= {"kinds": kinds or [], "access": access}
        return self._session("request-scope", body)

    def complete_intent(self, notes: str, evidence: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        """Complete the intent, or ask a person to. `evidence` is what proves its criteria."""
        return self._session(
            "complete-intent", {"verification_notes": notes, "acceptance_evidence": evidence}
        )

    def end(self) -> dict[str, Any]:
        """End the session and release its intent."""
        return self._session("end", {})

    def __enter__(self) -> Self:
        """Open the session, to be ended with the block."""
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        """End the session. A failure only warns: it must not hide what went wrong inside."""
        try:
            self.end()
        except Refused as error:
            warnings.warn(f"The session was not ended: {error}", stacklevel=2)

    # --- the gate ------------------------------------------------------------------------------

    def check(self, tool: str, data: dict[str, Any], *, call_id: str = "", wait: float = 0) -> Decision:
        """Ask the gate before a tool runs. Never raises: a failure is a denial.

        `wait` is how many seconds a person may take to decide, if the call needs approval.
        """
        deadline = time.monotonic() + wait
        call = {
            "session_id": self.session_id,
            "agent": self._agent,
            "root": self.root,
            "tool": self._tools.get(tool, tool),
            "input": data,
            "tool_use_id": call_id or str(uuid.uuid4()),
        }
        while True:
            remaining = max(0.0, deadline - time.monotonic())
            wait_seconds = min(MAX_WAIT, remaining)
            decision = self._decide({**call, "wait_seconds": wait_seconds}, wait_seconds)
            if decision.verdict != "ask" or remaining <= MAX_WAIT:
                return replace(decision, call_id=str(call["tool_use_id"]))

    def require(self, tool: str, data: dict[str, Any], *, call_id: str = "", wait: float = 0) -> Decision:
        """Check a call. Raise Denied unless it is allowed."""
        decision = self.check(tool, data, call_id=call_id, wait=wait)
        if not decision.allowed:
            raise Denied(decision)
        return decision

    def tool(
        self, name: str = "", *, records: str = "", wait: float = 0, tells: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorate a function so that the gate is asked before each call, under its own name or `name`.

        `records` is the argument with the path of the file that the function changes, to report the change.
        `tells` returns the text of a denial for the model instead of raising Denied.
        """

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def gated(*args: Any, **kwargs: Any) -> Any:
                data, call_id = bind_arguments(function, args, kwargs), str(uuid.uuid4())
                decision = self.check(name or function.__name__, data, call_id=call_id, wait=wait)
                if not decision.allowed:
                    return refusal(decision, tells)
                result = function(*args, **kwargs)
                if records:
                    self.report(str(data[records]), call_id)
                return result

            return gated

        return decorate

    # --- the ledger ----------------------------------------------------------------------------

    def record(self, path: str, *, call_id: str = "", **more: Any) -> dict[str, Any]:
        """Report a changed file with its current content hash. Raise Refused.

        `more` are fields of the REST call: `start_line`, `end_line`, `mutation_class`, `revision_id`.
        """
        body = {"path": path, **({"tool_use_id": call_id} if call_id else {}), **more}
        if "content" not in body and "content_hash" not in body:
            body["content_hash"] = file_hash(os.path.join(self.root, path))
        return self._session("traces", body)

    def record_targets(self, decision: Decision) -> None:
        """Report each file that an allowed call has changed, after it ran. Never raises."""
        for path in decision.targets:
            if not os.path.isdir(os.path.join(self.root, path)):
                self.report(path, decision.call_id)

    def report(self, path: str, call_id: str) -> None:
        """Report a change; a failure to report only warns, because the change itself succeeded."""
        try:
            self.record(path, call_id=call_id)
        except (Refused, OSError) as error:
            warnings.warn(f"The change of {path} was not reported: {error}", stacklevel=3)

    def _decide(self, call: dict[str, Any], wait_seconds: float) -> Decision:
        try:
            answer = self._ask("POST", "gate", call, wait_seconds)
        except Refused as denied:
            answer = denied.answer
            if answer.get("decision") != "deny":
                return _deny_unasked(denied)
        except Exception as error:  # an input that is no JSON, and whatever else: it was not asked
            return _deny_unasked(error)
        verdict = answer.get("decision")
        if verdict not in ("allow", "deny", "ask"):
            return _deny_unasked("its answer is none")
        return Decision(
            verdict,
            str(answer.get("error") or ""),
            answer.get("error_type"),
            answer.get("reason"),
            answer.get("approval"),
            answer,
        )

    def _session(self, action: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._ask("POST", f"sessions/{quote(self.session_id, safe='')}/{action}", body)

    def _ask(self, method: str, path: str, body: dict[str, Any], wait_seconds: float = 0) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/api/v1/{path}",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with _OPENER.open(request, timeout=wait_seconds + TIMEOUT_MARGIN) as reply:
                answer = json.loads(reply.read())
        except urllib.error.HTTPError as error:
            raise _to_refused(error) from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Refused(0, str(error), {}) from error
        if not isinstance(answer, dict):
            raise Refused(0, "it did not answer with an object", {})
        return answer


def _in_thread(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of ControlPlane as a coroutine function of AsyncControlPlane."""

    @functools.wraps(method)
    async def call(self: AsyncControlPlane, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(method, self.sync, *args, **kwargs)

    return call


class AsyncControlPlane:
    """ControlPlane for asyncio. Each call runs in a thread, so that waiting blocks no other task."""

    def __init__(self, url: str, token: str, **settings: Any) -> None:
        self.sync = ControlPlane(url, token, **settings)
        self.session_id = self.sync.session_id

    open = _in_thread(ControlPlane.open)
    prompt = _in_thread(ControlPlane.prompt)
    select_intent = _in_thread(ControlPlane.select_intent)
    request_scope = _in_thread(ControlPlane.request_scope)
    complete_intent = _in_thread(ControlPlane.complete_intent)
    end = _in_thread(ControlPlane.end)
    check = _in_thread(ControlPlane.check)
    require = _in_thread(ControlPlane.require)
    record = _in_thread(ControlPlane.record)
    record_targets = _in_thread(ControlPlane.record_targets)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.sync.__exit__)

    def tool(
        self, name: str = "", *, records: str = "", wait: float = 0, tells: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorate a coroutine function as `ControlPlane.tool` does."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            async def gated(*args: Any, **kwargs: Any) -> Any:
                data, call_id = bind_arguments(function, args, kwargs), str(uuid.uuid4())
                decision = await self.check(name or function.__name__, data, call_id=call_id, wait=wait)
                if not decision.allowed:
                    return refusal(decision, tells)
                result = await function(*args, **kwargs)
                if records:
                    await asyncio.to_thread(self.sync.report, str(data[records]), call_id)
                return result

            return gated

        return decorate


def _deny_unasked(problem: object) -> Decision:
    return Decision("deny", UNREACHABLE.format(problem), "HOOK_BLOCKED", "unreachable")


def bind_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return all arguments of a call by name: an omitted one could hide a path from the gate."""
    signature = inspect.signature(function)
    arguments = signature.bind(*args, **kwargs)
    arguments.apply_defaults()
    named: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        value = arguments.arguments[name]
        named.update(value if parameter.kind is parameter.VAR_KEYWORD else {name: value})
    return {name: _to_json_value(value) for name, value in named.items() if name not in ("self", "cls")}


def _to_json_value(value: Any) -> Any:
    """Return a value as JSON; what JSON cannot represent becomes text."""
    try:
        return json.loads(json.dumps(value, allow_nan=False, default=str))
    except (TypeError, ValueError):
        return str(value)


def refusal(decision: Decision, tells: bool) -> str:
    """Return the text for the model, or raise Denied."""
    if not tells:
        raise Denied(decision)
    return decision.text


def file_hash(path: str) -> str:
    """Return `sha256:…` of a file, `DELETED` if it does not exist."""
    try:
        with open(path, "rb") as file:
            return f"sha256:{hashlib.sha256(file.read()).hexdigest()}"
    except FileNotFoundError:
        return "DELETED"


def _to_refused(error: urllib.error.HTTPError) -> Refused:
    try:
        answer = json.loads(error.read())
    except (OSError, ValueError):
        answer = {}
    answer = answer if isinstance(answer, dict) else {}
    return Refused(error.code, str(answer.get("error") or f"it answered {error.code}"), answer)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: it would send the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)
