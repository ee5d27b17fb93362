"""`icp.py tools`: MCP servers are asked once which tools they have."""

from __future__ import annotations

import argparse
import json
import sys

import pytest

from controlplane.client.commands import server_tools

SERVER = """
import json, sys
TOOLS = [
    {"name": "get_issue", "annotations": {"readOnlyHint": True}},
    {"name": "digest", "annotations": None},
    {"nameless": 1},
]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}))
    second = message.get("params", {}).get("cursor")
    page = {"tools": TOOLS[1:]} if second else {"tools": TOOLS[:1], "nextCursor": "2"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": page}), flush=True)
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "server.py").write_text(SERVER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def configure(repository, **servers):
    (repository / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def run(*servers, dry_run=False):
    options = argparse.Namespace(agent="claude-code", servers=list(servers), dry_run=dry_run)
    return server_tools.report_server_tools(options)


def test_each_server_is_asked_and_its_list_is_reported(repository, monkeypatch, capsys):
    sent = []
    monkeypatch.setattr(server_tools, "load_connection", dict)
    monkeypatch.setattr(server_tools, "request_json", lambda *request: sent.append(request) or {"added": 2})
    configure(
        repository,
        linear={"command": sys.executable, "args": ["server.py"]},
        web={"type": "http", "url": "https://example.com/mcp"},
        icp={"command": "sh", "args": ["-c", "exit 1"]},
    )
    assert run() == 0
    (request,) = sent
    assert request[1:3] == ("POST", "mcp-tools")
    assert request[3]["server"] == "linear"
    assert [tool["name"] for tool in request[3]["tools"]] == ["get_issue", "digest"]
    assert request[3]["tools"][0]["annotations"] == {"readOnlyHint": True}
    out = capsys.readouterr().out
    assert "linear: 2 tools, 1 say that they only read, 2 new" in out
    assert "skip web" in out


def test_a_server_that_does_not_answer_fails_and_stops_no_other(repository, capsys):
    configure(
        repository,
        broken={"command": sys.executable, "args": ["-c", "print('hello')"]},
        gone={"command": "/nowhere/server"},
        linear={"command": sys.executable, "args": ["server.py"]},
    )
    assert run(dry_run=True) == 1
    out = capsys.readouterr().out
    assert "FAIL broken" in out
    assert "FAIL gone" in out
    assert "ok   linear" in out


def test_a_server_that_hangs_is_ended(repository, monkeypatch, capsys):
    monkeypatch.setattr(server_tools, "LIST_SECONDS", 0.5)
    configure(repository, slow={"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"]})
    assert run(dry_run=True) == 1
    assert "it ended before it answered initialize" in capsys.readouterr().out
