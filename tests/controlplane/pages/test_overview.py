"""The overview and the connect page: what happened, in words, and how to begin."""

from __future__ import annotations

import json
import re

import pytest
from django.utils import timezone

from controlplane.models import Token
from controlplane.pages.connect.snippets import AGENTS, build_snippets
from controlplane.pages.recent_calls import list_recent_calls
from controlplane.shared.tokens import find_bearer
from sessions.models import AgentSession
from tests.builders import intent, signed_in


def overview(workspace, someone):
    answer = signed_in(someone).get(f"/w/{workspace.slug}/")
    assert answer.status_code == 200
    return answer


@pytest.fixture
def busy(acme, agent):
    """A session that read, wrote inside its scope, and stepped outside with an edit and a command."""
    intent(acme)
    agent.gate("read_file", path="src/auth/login.ts", agent={"name": "claude-code"})
    agent.select("INT-001")
    agent.gate("write_to_file", path="src/auth/login.ts", content="x")
    agent.gate("write_to_file", path="docs/design.md", content="x")
    agent.gate("execute_command", command="npm run build > out.txt")
    return acme


def test_an_empty_workspace_has_an_overview(acme, ivy):
    figures = overview(acme, ivy).context["figures"]
    assert (figures["waiting"], figures["decisions"], figures["allowed_percent"]) == (0, 0, None)


def test_max_the_stranger_finds_neither_page(acme, max_):
    for page in ("", "connect/"):
        assert signed_in(max_).get(f"/w/acme/{page}").status_code == 404


def test_ivy_sees_what_waits_and_what_was_decided(busy, ivy):
    context = overview(busy, ivy).context
    figures = context["figures"]
    assert (figures["waiting"], figures["decisions"], figures["allowed_percent"]) == (2, 4, 50)
    assert (figures["sessions"], figures["holding"]) == (1, 1)
    assert (figures["intents"], figures["open_intents"]) == (1, 1)
    assert [row["object"] for row in context["waiting"]] == ["docs/design.md", "npm run build > out.txt"]
    assert sum(denial["number"] for denial in context["denials"]) == 2
    assert (context["agents"][0]["state"], context["agents"][0]["calls"]) == ("governed", 4)


def test_what_asks_most_is_told_in_words(busy, ivy):
    shown = overview(busy, ivy)
    assert shown.context["most_often"] == "A path outside the scope"
    assert "not_in_scope" not in shown.content.decode()


def test_calls_are_told_in_words(busy):
    told = [(call.text, call.object, call.object_is) for call in list_recent_calls(busy.pk, 8)]
    assert told == [
        ("Shell command", "npm run build > out.txt", "command"),
        ("Write", "docs/design.md", "path"),
        ("Write", "src/auth/login.ts", "path"),
        ("Read", "src/auth/login.ts", "path"),
    ]


def test_an_agent_with_an_open_session_that_asks_nothing_is_silent(busy, ivy, agent):
    AgentSession.objects.create(
        workspace=busy, session_id="quiet", token=agent.token, agent_name="codex", last_seen_at=timezone.now()
    )
    states = {row["name"]: row["state"] for row in overview(busy, ivy).context["agents"]}
    assert states["Codex"] == "silent"


def test_agents_are_degraded_where_the_gate_only_watches(busy, ivy, admin):
    admin.patch("policy", {"enforcement": "monitor"})
    assert overview(busy, ivy).context["agents"][0]["state"] == "degraded"


def test_the_overview_takes_as_many_queries_for_many_decisions(
    busy, ivy, agent, django_assert_max_num_queries
):
    for number in range(10):
        agent.gate("write_to_file", path=f"docs/{number}.md", content="x")
    client = signed_in(ivy)
    with django_assert_max_num_queries(28):
        client.get("/w/acme/")


@pytest.mark.parametrize("key", AGENTS)
def test_connect_shows_what_to_copy_for_each_agent(acme, ivy, key):
    answer = signed_in(ivy).get("/w/acme/connect/", {"agent": key})
    assert [row["current"] for row in answer.context["agents"]].count(True) == 1
    assert all(row["text"] for row in answer.context["snippets"])
    assert "noqa" not in answer.content.decode()


@pytest.mark.parametrize(
    ("key", "files"),
    [
        ("claude-code", [".claude/settings.json", ".mcp.json"]),
        ("codex", [".codex/hooks.json", ".codex/config.toml"]),
        ("gemini-cli", [".gemini/settings.json"]),
        ("windsurf", [".windsurf/hooks.json", "~/.codeium/windsurf/mcp_config.json"]),
    ],
)
def test_connect_shows_every_file_that_is_changed(key, files):
    added = [one for one in build_snippets(key, "https://icp.example.com") if "adds" in one["title"]]
    assert [one["title"] for one in added] == [f"What this adds: {name}" for name in files]
    assert f" mcp {key}" in added[-1]["text"]


def test_an_admin_gets_the_commands_with_a_fresh_token_once(acme, ada):
    client = signed_in(ada)
    page = client.post("/w/acme/connect/", {"agent": "codex"})
    (exported,) = re.findall(r"export ICP_TOKEN=(icp_[\w-]+)", page.content.decode())
    token = Token.objects.get(workspace=acme)
    assert find_bearer(exported).token_id == token.pk
    assert (token.role, token.acts_for, token.name[:7]) == ("agent", ada, "Codex, ")
    assert exported not in client.get("/w/acme/connect/").content.decode()


def test_nobody_else_makes_tokens_there(acme, rex, ivy, max_):
    people = (rex, ivy, max_)
    statuses = [signed_in(one).post("/w/acme/connect/", {"agent": "codex"}).status_code for one in people]
    assert statuses == [403, 403, 404]
    assert not Token.objects.exists()


def test_the_canary_is_denied(acme, agent):
    """The call on the Connect page, as it stands there."""
    intent(acme)
    body = json.loads(build_snippets("rest", "http://icp.example")[-1]["text"].split("-d '")[1].rstrip("'"))
    answer = agent.post("gate", body).json()
    assert (answer["decision"], answer["reason"]) == ("deny", "outside_workspace")


def test_the_api_can_be_browsed_without_a_token_or_inline_code(client, db):
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", page.content.decode())
    schema = client.get("/api/v1/schema", {"format": "json"})
    assert "/api/v1/gate" in schema.json()["paths"]
