"""Named people and plain builders, so that tests read as sentences."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from controlplane.models import Membership, Role, Token, Workspace
from controlplane.server.middleware import LAST_USED
from controlplane.shared.tokens import create_token
from intents import registry
from intents.models import Intent

PASSWORD = "correct horse battery staple"


@dataclass
class Speaker:
    """Somebody who speaks to the REST API with a token."""

    secret: str
    token: Token
    client: Client

    def _headers(self, headers: dict[str, str] | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}", **(headers or {})}

    def get(self, path: str, headers: dict[str, str] | None = None, **query: Any):
        return self.client.get(f"/api/v1/{path}", query, headers=self._headers(headers))

    def post(self, path: str, body: Any = None, headers: dict[str, str] | None = None, **more: Any):
        more.setdefault("content_type", "application/json")
        data = {} if body is None else body
        return self.client.post(f"/api/v1/{path}", data, headers=self._headers(headers), **more)

    def patch(self, path: str, body: Any, headers: dict[str, str] | None = None, **more: Any):
        more.setdefault("content_type", "application/json")
        return self.client.patch(f"/api/v1/{path}", body, headers=self._headers(headers), **more)

    def put(self, path: str, body: Any, content_type: str = "text/plain"):
        return self.client.put(
            f"/api/v1/{path}", body, content_type=content_type, headers=self._headers(None)
        )

    def gate(self, tool: str, session: str = "s-1", **call: Any) -> dict[str, Any]:
        """The gate's answer to a call; keyword arguments not named in the contract are the tool's input."""
        named = {
            "tool_use_id",
            "cwd",
            "root",
            "agent",
            "current_content_hashes",
            "wait_seconds",
            "dry_run",
            "containment",
        }
        request = {name: call.pop(name) for name in list(call) if name in named}
        return self.post("gate", {"session_id": session, "tool": tool, "input": call, **request}).json()

    def select(self, intent_id: str, session: str = "s-1") -> dict[str, Any]:
        self.post("sessions", {"session_id": session, "agent": {"name": "claude-code"}})
        return self.post(f"sessions/{session}/select-intent", {"intent_id": intent_id}).json()


def workspace(slug: str = "acme", **fields: Any) -> Workspace:
    return Workspace.objects.create(slug=slug, name=slug.title(), **fields)


def person(name: str, workspace: Workspace | None = None, role: Role = Role.REVIEWER) -> User:
    user = User.objects.create_user(name, password=PASSWORD, first_name=name.title())
    if workspace is not None:
        Membership.objects.create(workspace=workspace, user=user, role=role)
    return user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    session = client.session
    session[LAST_USED] = int(time.time())  # as the sign-in page notes it
    session.save()
    return client


def speaker(workspace: Workspace, role: str = "agent", *, acts_for: User | None = None) -> Speaker:
    token, secret = create_token(
        workspace, role, f"{role} token", acts_for_id=acts_for.pk if acts_for else None
    )
    return Speaker(secret, token, Client())


def intent(workspace: Workspace, intent_id: str = "INT-001", **fields: Any) -> Intent:
    """A registered intent; PENDING with scope `src/auth/**` unless said otherwise."""
    document = {
        "id": intent_id,
        "name": f"Work of {intent_id}",
        "description": "Something worth doing",
        "status": "PENDING",
        "owned_scope": ["src/auth/**"],
        "constraints": ["Keep it simple"],
        "acceptance_criteria": ["It works"],
    }
    return registry.create(workspace, document | fields, actor="test")
