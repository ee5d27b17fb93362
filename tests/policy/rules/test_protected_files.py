"""The files of the clients that decide what an agent may do are protected, whatever policy says."""

from __future__ import annotations

import pytest

from controlplane.client.agents import CLIENTS
from controlplane.client.config.mcp_servers import SERVERS
from controlplane.policy.model import Policy
from tests.policy.builders import bash, call, judge, said, snapshot

WRITTEN = sorted(
    {client.file for client in CLIENTS.values()}
    | {name for each in SERVERS.values() for name in each.files.split()}
)


@pytest.mark.parametrize("path", [name for name in WRITTEN if not name.startswith("~")])
@pytest.mark.parametrize("folder", ["", "packages/a/"])
def test_what_connect_writes_is_protected_at_any_depth(path, folder):
    state = snapshot("**", policy=Policy(protected_paths=()))
    written = call("Write", {"file_path": folder + path, "content": "x"})
    assert said(judge(written, state))[2] == "protected_path"


@pytest.mark.parametrize("path", [".GIT/hooks/pre-commit", ".husky/pre-push", ".vscode/tasks.json", ".envrc"])
def test_what_runs_by_itself_is_protected(path):
    assert said(judge(bash(f"echo x > {path}"), snapshot("**")))[2] == "protected_path"


def test_a_scope_that_names_the_file_opens_it():
    written = call("Write", {"file_path": ".vscode/tasks.json", "content": "x"})
    assert said(judge(written, snapshot(".vscode/tasks.json")))[0] == "allow"
