"""A stranger's token and a stranger's sign-in on every route there is: nothing leaks, nothing changes."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from controlplane.models import Workspace
from intents.models import Intent
from sessions.mcp.tools import TOOLS
from sessions.models import AgentSession, Approval
from tests import builders
from tests.sessions.mcp import in_process
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

METHODS = ("get", "post", "put", "patch", "delete")
OPEN = re.compile(r"^(healthz|readyz|metrics|api/v1/schema|api/v1/docs|login/|logout/|theme/|styleguide|)$")
SECRET = "Zebra-secret"  # stands in every text of the workspace that a stranger must never read


def routes(patterns=None, prefix=""):
    """(route, callback) of every URL pattern of the project, admin's own included."""
    for pattern in patterns if patterns is not None else get_resolver().url_patterns:
        route = prefix + str(pattern.pattern).replace("^", "").replace("$", "").replace(r"\Z", "")
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def filled(route, values):
    def value(match):
        return values.get(match.group("name"), "1")

    return "/" + re.sub(r"<(?:\w+:)?(?P<name>\w+)>", value, route)


@pytest.fixture
def secret_place(db):
    """A workspace full of things, each text with SECRET in it, and the ids that lead to them."""
    workspace = builders.workspace("secret-place")
    Workspace.objects.filter(pk=workspace.pk).update(name=SECRET, intentignore=f"# {SECRET}\n")
    builders.intent(workspace, name=SECRET, description=SECRET)
    agent = builders.speaker(workspace)
    agent.select("INT-001")
    agent.gate("Write", file_path=f"docs/{SECRET}.md", content=SECRET)
    traced = agent.post("sessions/s-1/traces", {"path": f"src/auth/{SECRET}.ts", "content": SECRET})
    assert traced.status_code == 201, traced.content
    approval = Approval.objects.get()
    return {
        "slug": workspace.slug, "session_id": "s-1", "approval_id": approval.public_id, "intent_id": "INT-001",
        "entry_id": traced.json()["id"], "path": f"src/auth/{SECRET}.ts", "workspace": workspace.slug,
        "token_id": str(agent.token.pk), "pk": "1",
    }  # fmt: skip


def text_of(answer):
    """What an answer says, unpacked."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if answer["Content-Type"] == "application/zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = b"".join(map(archive.read, archive.namelist()))
    return content.decode()


def state():
    return (
        Intent.objects.filter(workspace__slug="secret-place").values_list("version", "status").get(),
        Approval.objects.values_list("status").get(),
        AgentSession.objects.filter(workspace__slug="secret-place").values_list("state", "revision").get(),
        Workspace.objects.values_list("policy", "intentignore", "revision").get(slug="secret-place"),
        LedgerEntry.objects.filter(workspace_id=Workspace.objects.get(slug="secret-place").pk).count(),
    )


def the_routes(kind):
    found = [route for route in routes() if not OPEN.match(route) and not route.startswith("static")]
    return [route for route in found if route.startswith("api/") == (kind == "api")]


def test_there_are_routes_to_walk():
    assert len(the_routes("api")) > 20
    assert len(the_routes("page")) > 15


def test_a_strangers_token_sees_and_changes_nothing(secret_place, max_):
    stranger = builders.speaker(Workspace.objects.get(slug="elsewhere"), "admin")
    before = state()
    for route in the_routes("api"):
        for method in METHODS:
            path = filled(route, secret_place)
            answer = getattr(stranger.client, method)(
                path, headers={"Authorization": f"Bearer {stranger.secret}"}, content_type="application/json"
            )
            assert SECRET not in text_of(answer), f"{method} {path} leaks"
            assert answer.status_code < 500, f"{method} {path}: {answer.status_code}"
    assert state() == before


def test_without_a_token_every_route_is_401(secret_place, client):
    for route in the_routes("api"):
        for method in METHODS:
            answer = getattr(client, method)(filled(route, secret_place), content_type="application/json")
            assert answer.status_code in {401, 405}, f"{method} {route}: {answer.status_code}"


def test_a_session_cookie_counts_for_nothing_on_the_api(secret_place):
    workspace = Workspace.objects.get(slug="secret-place")
    client = builders.signed_in(builders.person("olga", workspace, "admin"))
    for route in the_routes("api"):
        assert client.get(filled(route, secret_place)).status_code in {401, 405}, route


def test_a_strangers_sign_in_sees_and_changes_nothing(secret_place, max_):
    client, before = builders.signed_in(max_), state()
    for route in the_routes("page"):
        for method in ("get", "post"):
            answer = getattr(client, method)(filled(route, secret_place))
            assert SECRET not in text_of(answer), f"{method} {route} leaks"
            if route.startswith("w/"):
                assert answer.status_code in {404, 405}, f"{method} {route}: {answer.status_code}"
    assert state() == before


def test_without_a_sign_in_every_page_leads_to_the_sign_in(secret_place, client):
    for route in the_routes("page"):
        answer = client.get(filled(route, secret_place))
        if route.startswith("w/") and answer.status_code != 405:
            assert answer.status_code == 302, f"{route}: {answer.status_code}"
            assert answer["Location"].startswith("/login/"), route


def test_an_auditor_changes_nothing(secret_place):
    workspace = Workspace.objects.get(slug="secret-place")
    client, before = builders.signed_in(builders.person("ivy", workspace, "auditor")), state()
    for route in the_routes("page"):
        if route.startswith("w/") and not route.endswith("preview/"):  # a preview changes nothing
            assert client.post(filled(route, secret_place)).status_code in {403, 405}, route
    assert state() == before


ARGUMENTS = {
    "session_id": "s-1",
    "intent_id": "INT-001",
    "patterns": ["docs/**"],
    "reason": "why",
    "verification_notes": "done",
    "problems": "none",
    "name": "Mine",
    "description": "Mine",
    "owned_scope": ["**"],
}
WRITE = {"agent": "codex", "session_id": "s-1", "tool_name": "Write", "tool_input": {"file_path": "a.md"}}


@pytest.fixture
def mcp(monkeypatch):
    in_process.stay_in_the_transaction(monkeypatch)

    def ask(headers, name, arguments):
        answer = in_process.ask(headers, name, arguments)
        return answer.status, answer.text

    return ask


def asked_of(tool):
    known = TOOLS[tool].input_schema["properties"]
    return {name: value for name, value in ARGUMENTS.items() if name in known}


def test_a_strangers_token_sees_and_changes_nothing_over_mcp(secret_place, max_, mcp):
    stranger = builders.speaker(Workspace.objects.get(slug="elsewhere"), "admin")
    headers, before = {"authorization": f"Bearer {stranger.secret}"}, state()
    for tool in TOOLS:
        status, text = mcp(headers, tool, asked_of(tool))
        assert status == 200, (tool, text)
        assert SECRET not in text, tool
    assert SECRET not in mcp(headers, "gate_tool_call", WRITE)[1]
    assert state() == before


def test_another_tokens_agent_changes_nothing_over_mcp(secret_place, mcp):
    other = builders.speaker(Workspace.objects.get(slug="secret-place"), "admin")
    headers, before = {"authorization": f"Bearer {other.secret}"}, state()
    reading = {"list_active_intents", "get_intent_context", "propose_intent"}
    for tool in TOOLS.keys() - reading:
        status, text = mcp(headers, tool, asked_of(tool))
        assert status == 200, (tool, text)
        assert json.loads(text)["result"]["isError"], tool
    assert "another token" in mcp(headers, "gate_tool_call", WRITE)[1]
    assert state() == before


def test_without_a_token_mcp_is_401_and_a_cookie_counts_for_nothing(secret_place, mcp):
    workspace = Workspace.objects.get(slug="secret-place")
    olga = builders.signed_in(builders.person("olga", workspace, "admin"))
    cookie = {"cookie": f"sessionid={olga.cookies['sessionid'].value}"}
    for headers in ({}, cookie, {"authorization": "Bearer icp_wrong"}):
        for tool in TOOLS:
            assert mcp(headers, tool, asked_of(tool))[0] == 401
        status, text = mcp(headers, "gate_tool_call", WRITE)
        assert (status, "deny" in text, SECRET in text) == (200, True, False)
