"""Kind and effect of MCP, web and unknown tools."""

from __future__ import annotations

import pytest

from controlplane.policy.calls.external_tools import describe_tool, find_host, names_output
from controlplane.policy.effects import Effect


@pytest.mark.parametrize(
    ("name", "kind", "effect"),
    [
        ("mcp__linear-server__get_issue", "mcp:linear-server.get_issue", Effect.FETCHES),
        ("mcp__context7__query-docs", "mcp:context7.query-docs", Effect.FETCHES),
        ("mcp_github_listIssues", "mcp:github.listIssues", Effect.FETCHES),
        ("mcp__playwright__browser_snapshot", "mcp:playwright.browser_snapshot", Effect.FETCHES),
        ("mcp__linear__create_issue", "mcp:linear.create_issue", Effect.SENDS),
        ("mcp__x__get_or_create", "mcp:x.get_or_create", Effect.SENDS),
        ("mcp__x__getAndDelete", "mcp:x.getAndDelete", Effect.SENDS),
        ("mcp__x__frobnicate", "mcp:x.frobnicate", Effect.UNKNOWN),
        ("frobnicate", "tool:frobnicate", Effect.UNKNOWN),
        ("WebFetch", "web:WebFetch", Effect.BROWSES),
    ],
)
def test_a_tool_by_its_name(name, kind, effect):
    found = describe_tool(name, {}, {})
    assert (found.kind, found.effect) == (kind, effect)


def test_what_the_server_says_comes_first():
    hints = {"mcp:x.frobnicate": True, "mcp:x.get_issue": False}
    assert describe_tool("mcp__x__frobnicate", {}, hints).effect is Effect.FETCHES
    assert describe_tool("mcp__x__get_issue", {}, hints).effect is Effect.SENDS


@pytest.mark.parametrize(
    "data", [{"sql": "select 1"}, {"q": "DELETE FROM users"}, {"query": "mutation { x }"}, {"script": "x"}]
)
def test_a_reading_tool_that_is_given_a_statement_is_unknown(data):
    assert describe_tool("mcp__db__query", data, {}).effect is Effect.UNKNOWN


def test_a_listed_host_is_fetched_from():
    hosts = ("docs.python.org",)
    assert (
        describe_tool("WebFetch", {"url": "https://docs.python.org/3/"}, {}, hosts).effect is Effect.FETCHES
    )
    assert describe_tool("WebFetch", {"url": "https://evil.org"}, {}, hosts).effect is Effect.BROWSES


def test_a_name_that_cannot_be_shown_is_no_kind():
    assert describe_tool("mcp__x__get\x1b[2J", {}, {}).kind == ""
    assert describe_tool("x" * 400, {}, {}).kind == ""


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://a.org/x", "a.org"),
        ("a.org", "a.org"),
        ("https://a.org:8443/", "a.org:8443"),
        ("https://A.org.:443", "a.org"),
        ("https://u:p@a.org/", ""),
        ("https://a.org@evil.org/", ""),
        ("https://a.org\\@evil.org/", ""),
        ("ftp://a.org/", ""),
        ("file:///etc/passwd", ""),
        ("https://[", ""),
        ("https://a.org:x/", ""),
    ],
)
def test_the_host_of_a_url(url, host):
    assert find_host(url) == host


def test_an_input_may_say_where_to_store():
    assert names_output({"output_path": "x"})
    assert not names_output({"query": "x"})
    assert not names_output([])


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("mcp__pencil__get_screenshot", "fetches"),
        ("mcp__browser__take_screenshot", "sends"),
        ("mcp__x__get_or_create_order", "sends"),
        ("mcp__x__screenshot_get", "sends"),
    ],
)
def test_what_a_getter_gets_is_no_verb(name, effect):
    assert describe_tool(name, {}, {}).effect == effect


def test_an_input_of_too_many_fields_may_hold_a_statement():
    assert describe_tool("mcp__db__query", {str(number): 1 for number in range(300)}, {}).effect == "unknown"
    assert describe_tool("mcp__db__query", "x", {}).effect == "fetches"
