"""Connecting and disconnecting: our entries only, shown before, exact after."""

from __future__ import annotations

import json
import stat

import pytest

from controlplane.client.agents import CLIENTS
from controlplane.client.config.hook_entries import ALLOW_COMMENTS, MARK

JSON_AGENTS = [agent for agent, client in CLIENTS.items() if client.entry]
PLUGIN_AGENTS = [agent for agent, client in CLIENTS.items() if not client.entry]


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def given(machine, agent: str, text: str):
    file = machine.repository / CLIENTS[agent].file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def foreign(agent: str) -> str:
    """A configuration of the user's own, with a hook of theirs on the same event."""
    gate = CLIENTS[agent].gates.split()[0]
    theirs = {"command": "my-own-check", "notes": ["ü", {}]}
    return (
        json.dumps({"model": "x", "hooks": {gate: [theirs], "Stop": []}}, indent=2, ensure_ascii=False) + "\n"
    )


@pytest.mark.parametrize("agent", CLIENTS)
class TestEveryClient:
    def test_every_event_has_an_entry_before_and_none_after(self, machine, agent):
        machine.connect(agent)
        for event in f"{CLIENTS[agent].gates} {CLIENTS[agent].others}".split():
            assert event in machine.text(agent)
        assert machine.icp("disconnect", agent).returncode == 0
        assert not (machine.repository / CLIENTS[agent].file).exists()

    def test_connecting_twice_is_connecting_once(self, machine, agent):
        machine.connect(agent)
        before = machine.text(agent)
        assert "@@" not in machine.connect(agent).stdout
        assert machine.text(agent) == before

    def test_the_token_is_in_no_file_of_the_repository(self, machine, agent):
        machine.connect(agent)
        files = [file for file in machine.repository.rglob("*") if file.is_file()]
        assert files
        assert not [file for file in files if b"icp_secret" in file.read_bytes()]

    def test_a_dry_run_shows_the_change_and_makes_none(self, machine, agent):
        done = machine.icp("connect", agent, "--url", "http://x", "--token", "icp_x", "--dry-run")
        assert MARK in done.stdout
        assert [file.name for file in machine.repository.iterdir()] == [".git"]
        assert not machine.config.exists()


@pytest.mark.parametrize("agent", JSON_AGENTS)
class TestSettingsOfOthers:
    def test_they_stand_untouched_beside_ours(self, machine, agent):
        given(machine, agent, foreign(agent))
        machine.connect(agent)
        document = json.loads(machine.text(agent))
        assert document["model"] == "x"
        assert document["hooks"][CLIENTS[agent].gates.split()[0]][0] == {
            "command": "my-own-check",
            "notes": ["ü", {}],
        }

    def test_disconnecting_leaves_exactly_what_was_there(self, machine, agent):
        file = given(machine, agent, foreign(agent))
        machine.connect(agent)
        machine.icp("disconnect", agent)
        left = json.loads(file.read_text(encoding="utf-8"))
        left.pop("version", None)
        assert left == json.loads(foreign(agent))

    def test_the_old_text_is_kept(self, machine, agent):
        given(machine, agent, foreign(agent))
        machine.connect(agent)
        (kept,) = (machine.config / "backups").iterdir()
        assert (kept.read_text(encoding="utf-8"), mode(kept)) == (foreign(agent), 0o600)

    @pytest.mark.parametrize("text", ["{ // a comment", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
    def test_a_file_that_cannot_be_understood_is_left_alone(self, machine, agent, text):
        file = given(machine, agent, text)
        done = machine.icp("connect", agent, "--url", "http://x", "--token", "icp_x")
        assert (done.returncode, file.read_text(encoding="utf-8")) == (1, text)
        assert "Correct the file first" in done.stderr
        assert not machine.config.exists()

    def test_an_older_entry_of_ours_is_replaced(self, machine, agent):
        machine.connect(agent)
        old = machine.text(agent).replace(" || exit 2", "").replace("70", "7")
        given(machine, agent, old)
        machine.connect(agent)
        assert machine.text(agent).count(MARK) == old.count(MARK)

    def test_layout_and_comments_stay_where_the_client_takes_them(self, machine, agent):
        text = "{\n    // mine\n    'model': 'x',\n    'hooks': {'Stop': []} // none yet\n}\n".replace(
            "'", '"'
        )
        file = given(machine, agent, text)
        done = machine.icp("connect", agent, "--url", "http://x", "--token", "icp_x")
        if agent not in ALLOW_COMMENTS:
            assert (done.returncode, file.read_text(encoding="utf-8")) == (1, text)
            return
        assert '\n    // mine\n    "model": "x",\n' in file.read_text(encoding="utf-8")
        machine.icp("disconnect", agent)
        assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("agent", PLUGIN_AGENTS)
def test_a_plugin_of_somebody_else_is_left_alone(machine, agent):
    file = given(machine, agent, "export default {}")
    assert machine.icp("connect", agent, "--url", "http://x", "--token", "icp_x").returncode == 1
    assert machine.icp("disconnect", agent).returncode == 1
    assert file.read_text(encoding="utf-8") == "export default {}"


class TestWhatIsKept:
    def test_only_the_user_can_read_it(self, machine):
        machine.connect("codex")
        assert [mode(machine.config / name) for name in ("connections.json", "icp_hook.py", "hook")] == [
            0o600,
            0o600,
            0o700,
        ]

    def test_each_repository_has_a_token_of_its_own(self, machine):
        machine.connect("codex", "http://one")
        machine.repository = machine.home
        machine.connect("codex", "http://two/")
        kept = json.loads((machine.config / "connections.json").read_text())
        assert [told["url"] for told in kept.values()] == ["http://one", "http://two"]

    def test_the_last_client_that_goes_takes_the_token_with_it(self, machine):
        machine.connect("codex")
        machine.connect("cursor")
        machine.icp("disconnect", "codex")
        assert "icp_secret" in (machine.config / "connections.json").read_text()
        machine.icp("disconnect", "cursor")
        assert not machine.config.exists()

    def test_disconnecting_what_was_never_connected_changes_nothing(self, machine):
        file = given(machine, "cursor", foreign("cursor"))
        assert machine.icp("disconnect", "cursor").returncode == 0
        assert file.read_text(encoding="utf-8") == foreign("cursor")

    def test_without_a_token_nothing_is_connected(self, machine):
        done = machine.icp("connect", "codex", "--url", "http://x")
        assert done.returncode == 1
        assert "ICP_TOKEN" in done.stderr


def test_what_lies_where_the_new_file_is_made_is_not_written_through(machine):
    aim = machine.home / "precious"
    aim.write_text("kept")
    (machine.repository / ".claude").mkdir()
    (machine.repository / ".claude" / "settings.json.icp-new").symlink_to(aim)
    machine.connect("claude-code")
    assert aim.read_text() == "kept"
    assert "hooks" in machine.text("claude-code")
