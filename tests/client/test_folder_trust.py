"""Three clients run the hooks of a repository in trusted folders only: `connect` and `doctor` tell."""

from __future__ import annotations

import json

import pytest

from tests.client.machine import Machine

ON = {"security": {"folderTrust": {"enabled": True}}}
OFF = {"security": {"folderTrust": {"enabled": False}}}
YES, PARENT, NO = "TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST"
HOMES = {"gemini-cli": ".gemini", "qwen-code": ".qwen"}
FOLDERS = HOMES | {"copilot": ".copilot"}


def put(machine: Machine, agent: str, name: str, value: object) -> None:
    file = machine.home / FOLDERS[agent] / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value))


def verdict(machine: Machine, agent: str, **env: str) -> str:
    """What `doctor` says of it, after `connect` has said the same."""
    done = machine.icp("connect", agent, "--url", "http://127.0.0.1:9", ICP_TOKEN="icp_x", **env)
    assert done.returncode == 0
    lines = machine.icp("doctor", **env).stdout.splitlines()
    line = next(line for line in lines if f"{agent}: it runs our hooks" in line)
    told = line.partition("hooks: ")[2]
    assert line.startswith("FAIL" if told else "ok")
    assert done.stderr == (f"NOT ENFORCED YET. {told}\n" if told else "")
    return told


@pytest.mark.parametrize(
    ("agent", "settings", "fine"),
    [
        ("gemini-cli", {}, False),
        ("gemini-cli", ON, False),
        ("gemini-cli", OFF, True),
        ("qwen-code", {}, True),
        ("qwen-code", ON, False),
        ("qwen-code", OFF, True),
        ("qwen-code", f"// mine\n{json.dumps(ON)}", False),
        ("qwen-code", "{", True),
        ("qwen-code", {"security": []}, True),
    ],
)
def test_without_a_rule_the_setting_decides(machine, agent, settings, fine):
    put(machine, agent, "settings.json", settings)
    assert (verdict(machine, agent) == "") == fine


@pytest.mark.parametrize("agent", HOMES)
@pytest.mark.parametrize(
    ("rules", "fine"),
    [
        ({"": YES}, True),
        ({"": NO}, False),
        ({"..": YES}, True),
        ({"../sibling": YES}, False),
        ({"../sibling": PARENT}, True),
        ({"..": YES, "": NO}, False),
        ({"..": NO, "": YES}, True),
        ({"../repo": YES}, False),
        ({"": "PERHAPS"}, False),
        ({"/": YES}, True),
    ],
)
def test_the_rule_of_the_innermost_folder_decides(machine, agent, rules, fine):
    put(machine, agent, "settings.json", ON)
    told = {str(machine.repository / rule) if rule != "/" else "/": level for rule, level in rules.items()}
    put(machine, agent, "trustedFolders.json", f"// mine\n{json.dumps(told)}")
    assert (verdict(machine, agent) == "") == fine


@pytest.mark.parametrize(
    ("settings", "fine"),
    [
        ({}, False),
        ({"trustedFolders": [""]}, True),
        ({"trusted_folders": [""]}, True),
        ({"trustedFolders": [".."]}, True),
        ({"trustedFolders": ["../sibling"]}, False),
        ({"trustedFolders": 3}, False),
    ],
)
def test_copilot_must_remember_that_the_folder_is_trusted(machine, settings, fine):
    folders = {
        key: [str(machine.repository / name) for name in names] if isinstance(names, list) else names
        for key, names in settings.items()
    }
    put(machine, "copilot", "config.json", folders)
    told = verdict(machine, "copilot")
    assert (told == "") == fine
    assert fine or "runs every tool without asking the gate" in told


def test_what_to_do_is_said(machine):
    told = verdict(machine, "gemini-cli")
    assert "was not told yet to trust this folder: start `gemini` here" in told
    assert "GEMINI_CLI_TRUST_WORKSPACE=true" in told
    put(machine, "gemini-cli", "trustedFolders.json", {str(machine.repository): NO})
    assert "was told not to trust this folder" in verdict(machine, "gemini-cli")


@pytest.mark.parametrize("agent", HOMES)
@pytest.mark.parametrize("text", ["{", "[]"])
def test_rules_that_cannot_be_read_are_no_trust(machine, agent, text):
    put(machine, agent, "settings.json", ON)
    put(machine, agent, "trustedFolders.json", text)
    assert "cannot be read" in verdict(machine, agent)


@pytest.mark.parametrize(("word", "fine"), [("true", True), ("false", False), ("perhaps", False)])
def test_geminis_variable_decides_alone(machine, word, fine):
    assert (verdict(machine, "gemini-cli", GEMINI_CLI_TRUST_WORKSPACE=word) == "") == fine


@pytest.mark.parametrize(
    ("agent", "name"),
    [("gemini-cli", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"), ("qwen-code", "QWEN_CODE_TRUSTED_FOLDERS_PATH")],
)
def test_the_rules_may_be_elsewhere(machine, agent, name, tmp_path):
    put(machine, agent, "settings.json", ON)
    file = tmp_path / "rules.json"
    file.write_text(json.dumps({str(machine.repository): YES}))
    assert verdict(machine, agent, **{name: str(file)}) == ""
