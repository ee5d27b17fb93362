"""A workspace in the served product for each test, and agents of every client that work in it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from itertools import count
from typing import Any

import pytest
import yaml

from tests.live import LiveServer
from tests.seeds.clients import ALL, REST, Agent

_numbers = count(1)


class Shop:
    """A workspace with one intent (INT-001, `src/auth/**`), and everybody who works in it."""

    def __init__(self, server: LiveServer, *options: str, empty: bool = False) -> None:
        self.server, self.slug = server, f"seeds-{next(_numbers)}"
        made = server.manage("create_workspace", self.slug, "--json", *options)
        self.tokens: dict[str, str] = json.loads(made)["tokens"]
        if not empty:
            self.intent(constraints=["No new dependency"], references=["docs/auth.md"])

    def agent(self, client: str = REST) -> Agent:
        return Agent(self.server, self.tokens["agent"], client)

    def intent(self, intent_id: str = "INT-001", **fields: Any) -> dict[str, Any]:
        document = {
            "id": intent_id, "name": f"Sign-in {intent_id}", "description": f"What {intent_id} is for",
            "status": "PENDING", "owned_scope": ["src/auth/**"], "acceptance_criteria": ["All tests pass"],
        }  # fmt: skip
        status, answer = self.admin("POST", "intents", document | fields)
        assert status == 201, answer
        return answer

    def change(self, intent_id: str = "INT-001", **fields: Any) -> dict[str, Any]:
        version = self.admin("GET", f"intents/{intent_id}")[1]["version"]
        status, answer = self.admin("PATCH", f"intents/{intent_id}", fields | {"version": version})
        assert status == 200, answer
        return answer

    def policy(self, **changes: Any) -> None:
        status, answer = self.admin("PATCH", "policy", changes)
        assert status == 200, answer

    def ignore(self, text: str) -> None:
        status, answer = self.send("PUT", "intentignore", text, "text/plain")
        assert status == 200, answer

    def pending(self) -> list[dict[str, Any]]:
        return self.reviewer("GET", "approvals?status=PENDING")[1]["results"]

    def decide(self, approval_id: str = "", **decision: Any) -> dict[str, Any]:
        """Decide on an approval, the newest pending one by default, as a reviewer."""
        approval_id = approval_id or self.pending()[0]["id"]
        body = {"action": "approve", "grant": "once"} | decision
        if body["action"] == "reject":
            body.pop("grant")
        status, answer = self.reviewer("POST", f"approvals/{approval_id}/decide", body)
        assert status == 200, answer
        return answer

    def traces(self, query: str = "") -> list[dict[str, Any]]:
        return self.reviewer("GET", f"traces?{query}")[1]["results"]

    def text(self, path: str) -> str:
        return self.send("GET", path)[1]

    def check(self, document: Any) -> dict[str, Any]:
        """Validate a registry file; a text is sent as it is."""
        text = document if isinstance(document, str) else yaml.safe_dump(document)
        return json.loads(self.send("POST", "intents/validate", text, "application/yaml")[1])

    def load(self, document: Any, query: str = "mode=replace") -> dict[str, Any]:
        text = document if isinstance(document, str) else yaml.safe_dump(document)
        return json.loads(self.send("POST", f"intents/import?{query}", text, "application/yaml")[1])

    def admin(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return self.server.api(self.tokens["admin"], method, path, body)

    def reviewer(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return self.server.api(self.tokens["reviewer"], method, path, body)

    def send(self, method: str, path: str, text: str = "", kind: str = "application/json") -> tuple[int, str]:
        """Send a text as an admin and return the answer's own text."""
        data = text.encode() if text else None
        request = urllib.request.Request(f"{self.server.url}/api/v1/{path}", data, method=method)
        request.add_header("Authorization", f"Bearer {self.tokens['admin']}")
        request.add_header("Content-Type", kind)
        try:
            with urllib.request.urlopen(request, timeout=70) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@pytest.fixture
def shop(running_server: LiveServer) -> Shop:
    return Shop(running_server)


@pytest.fixture
def rest(shop: Shop) -> Agent:
    """An agent that speaks REST: for what no hook sends."""
    return shop.agent()


# `make test-deep` adds the other clients, and REST, which `rest` and `either` have in every run.
IN_EVERY_RUN = {"claude-code"}


@pytest.fixture(
    params=[
        client if client in IN_EVERY_RUN else pytest.param(client, marks=pytest.mark.deep) for client in ALL
    ]
)
def coder(request: pytest.FixtureRequest, shop: Shop) -> Agent:
    """An agent of every client in turn: the hooks' captured payloads, and REST."""
    return shop.agent(request.param)


@pytest.fixture(params=[REST, "claude-code"])
def either(request: pytest.FixtureRequest, shop: Shop) -> Agent:
    """An agent by REST and by one client's hooks: for what another test shows with every client."""
    return shop.agent(request.param)


@pytest.fixture
def disk(running_server: LiveServer, tmp_path: Any) -> Shop:
    """A workspace with a local root (`tmp_path`) and an `.orchestration` folder."""
    (tmp_path / ".orchestration").mkdir()
    return Shop(running_server, "--local-root", str(tmp_path))
