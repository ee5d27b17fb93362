"""The MCP server in each client's own configuration: put in beside what is there, taken out to the byte."""

from __future__ import annotations

import json
import tomllib

import pytest

from controlplane.client.agents import CLIENTS
from controlplane.client.config.hook_entries import ALLOW_COMMENTS
from controlplane.client.config.json_edit import read_json
from controlplane.client.config.mcp_servers import SERVERS, bridge_command
from tests.client.machine import Machine

JSON_AGENTS = [agent for agent, server in SERVERS.items() if server.key]
OWN_FILE = [agent for agent, server in SERVERS.items() if server.files != CLIENTS[agent].file]
OF_THE_HOME = [agent for agent, server in SERVERS.items() if server.files.startswith("~/")]
MINE = {"command": "mine", "args": ["ü"]}
TOML = '# mine\nmodel = "x"\n\n[mcp_servers.mine]  # and this\ncommand = "mine"\n'


def file_of(machine: Machine, agent: str):
    name = SERVERS[agent].files.split()[0]
    return machine.home / name[2:] if name.startswith("~/") else machine.repository / name


def given(machine: Machine, agent: str, text: str):
    file = file_of(machine, agent)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def foreign(agent: str) -> str:
    """Of the user's own: a server, comments where the client takes them."""
    if not SERVERS[agent].key:
        return TOML
    comment = "    // mine\n" if agent in ALLOW_COMMENTS else ""
    return f'{{\n{comment}    "{SERVERS[agent].key}": {{"mine": {json.dumps(MINE)}}},\n    "x": [ 1 ]\n}}'


def servers(machine: Machine, agent: str) -> dict:
    text = file_of(machine, agent).read_text(encoding="utf-8")
    key = SERVERS[agent].key
    return read_json(text).value[key] if key else tomllib.loads(text)["mcp_servers"]


def connect(machine: Machine, agent: str, *more: str):
    return machine.icp("connect", agent, "--url", "http://127.0.0.1:9", *more, ICP_TOKEN="icp_secret")


def test_every_client_has_a_row():
    assert set(SERVERS) == set(CLIENTS)


@pytest.mark.parametrize("agent", SERVERS)
class TestEveryClient:
    def test_it_starts_the_program_and_nothing_is_left_of_it_after(self, machine, agent):
        connect(machine, agent)
        entry = servers(machine, agent)["icp"]
        words = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
        assert words == bridge_command(agent)
        machine.icp("disconnect", agent)
        assert not file_of(machine, agent).exists()

    def test_the_token_stands_in_the_one_file_alone(self, machine, agent):
        connect(machine, agent)
        files = [file for file in machine.home.parent.rglob("*") if file.is_file()]
        assert [file.name for file in files if b"icp_secret" in file.read_bytes()] == ["connections.json"]

    def test_servers_of_others_stay_to_the_byte(self, machine, agent):
        file = given(machine, agent, foreign(agent))
        connect(machine, agent)
        assert set(servers(machine, agent)) == {"mine", "icp"}
        machine.icp("disconnect", agent)
        assert file.read_text(encoding="utf-8") == foreign(agent)

    def test_connecting_again_changes_nothing(self, machine, agent):
        file = given(machine, agent, foreign(agent))
        connect(machine, agent)
        before = file.read_text(encoding="utf-8")
        assert "@@" not in connect(machine, agent).stdout
        assert file.read_text(encoding="utf-8") == before

    def test_a_server_of_that_name_which_is_not_ours_is_left_alone(self, machine, agent):
        text = foreign(agent).replace("mine]", "icp]").replace('"mine":', '"icp":')
        file = given(machine, agent, text)
        done = connect(machine, agent)
        assert (done.returncode, file.read_text(encoding="utf-8")) == (1, text)
        assert "connect with --no-mcp" in done.stderr
        assert not machine.config.exists()

    def test_without_it_the_hooks_alone_are_put_in(self, machine, agent):
        text = foreign(agent).replace("mine]", "icp]").replace('"mine":', '"icp":')
        given(machine, agent, text)
        assert connect(machine, agent, "--no-mcp").returncode == 0
        assert "mine" in str(servers(machine, agent)["icp"])
        assert machine.launcher.exists()
        assert f"{agent}: its MCP server is not managed" in machine.icp("doctor").stdout

    def test_leaving_it_later_takes_it_out(self, machine, agent):
        connect(machine, agent)
        connect(machine, agent, "--no-mcp")
        file = file_of(machine, agent)
        assert not file.exists() or f" mcp {agent}" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("agent", JSON_AGENTS)
@pytest.mark.parametrize("text", ["{", "[]", '{"%s": []}', '{"%s": {"icp": 1}}'])
def test_what_cannot_be_understood_is_left_alone(machine, agent, text):
    text = text.replace("%s", SERVERS[agent].key)
    file = given(machine, agent, text)
    assert connect(machine, agent).returncode == 1
    assert file.read_text(encoding="utf-8") == text
    assert not machine.config.exists()


@pytest.mark.parametrize("agent", OWN_FILE)
def test_without_it_nobody_minds_what_the_file_holds(machine, agent):
    file = given(machine, agent, "{ neither JSON nor TOML")
    assert connect(machine, agent, "--no-mcp").returncode == 0
    assert machine.icp("disconnect", agent).returncode == 0
    assert file.read_text(encoding="utf-8") == "{ neither JSON nor TOML"


@pytest.mark.parametrize(
    "text",
    [
        "a = [",
        "mcp_servers = {}",
        "mcp_servers.icp.command = 'x'",
        "[mcp_servers.icp]",
        '[ mcp_servers . "icp" ]',
        "[mcp_servers.icp.env]",
        "[mcp_servers]\nicp = { command = 'x' }",
        "[mcp_servers]\na.command = 'x'\nicp.command = 'x'",
    ],
)
def test_toml_that_ours_would_break_is_left_alone(machine, text):
    file = given(machine, "codex", text)
    assert connect(machine, "codex").returncode == 1
    assert file.read_text() == text


def test_what_was_written_after_our_block_stays(machine):
    connect(machine, "codex")
    file = file_of(machine, "codex")
    with file.open("a") as more:
        more.write('\n[mcp_servers.mine]\ncommand = "mine"\n')
    assert "@@" not in connect(machine, "codex").stdout
    machine.icp("disconnect", "codex")
    assert tomllib.loads(file.read_text()) == {"mcp_servers": {"mine": {"command": "mine"}}}


def test_the_users_own_spelling_of_the_file_is_taken(machine):
    file = machine.repository / "opencode.jsonc"
    file.write_text("{ // mine\n}\n")
    connect(machine, "opencode")
    assert "icp" in read_json(file.read_text()).value["mcp"]
    assert not (machine.repository / "opencode.json").exists()


@pytest.mark.parametrize("agent", OF_THE_HOME)
def test_a_server_for_all_repositories_stays_until_the_last_of_them_goes(machine, agent, tmp_path):
    first, second = machine.repository, tmp_path / "second"
    (second / ".git").mkdir(parents=True)
    for machine.repository in (first, second):
        connect(machine, agent)
    machine.repository = first
    machine.icp("disconnect", agent)
    assert "icp" in servers(machine, agent)
    machine.repository = second
    machine.icp("disconnect", agent)
    assert not file_of(machine, agent).exists()
