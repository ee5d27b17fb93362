"""Gemini CLI and Qwen Code leave out a repository's hooks and MCP servers where its folder is not trusted."""

from __future__ import annotations

import os

from controlplane.client.config.json_edit import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRUSTED = frozenset({"TRUST_FOLDER", "TRUST_PARENT"})
DISTRUSTED = "DO_NOT_TRUST"

# `on`: whether folders need trust where no setting says so. `file` may be elsewhere, as `file_variable` says;
# the variable `word` decides alone, by "true" or "false". Of `settings` later ones win. Of several rules that
# fit, the `innermost` folder decides, else the longest rule (TRUST_PARENT is of its parent).
TRUST_RULES: dict[str, dict[str, Any]] = {
    "gemini-cli": {
        "name": "Gemini CLI",
        "on": True,
        "file": "~/.gemini/trustedFolders.json",
        "file_variable": "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
        "word": "GEMINI_CLI_TRUST_WORKSPACE",
        "settings": ("~/.gemini/settings.json", "/etc/gemini-cli/settings.json"),
        "innermost": False,
    },
    "qwen-code": {
        "name": "Qwen Code",
        "on": False,
        "file": "~/.qwen/trustedFolders.json",
        "file_variable": "QWEN_CODE_TRUSTED_FOLDERS_PATH",
        "word": "",
        "settings": ("~/.qwen/settings.json", "/etc/qwen-code/settings.json"),
        "innermost": True,
    },
}


def explain_folder_distrust(agent: str, root: str) -> str:
    """Why the client would leave out our entries in this repository, "" when it would not.

    What an editor says of its workspace, which comes before the file, cannot be seen from here.
    """
    client = TRUST_RULES[agent]
    program = agent.partition("-")[0]
    consequence = f"Until then {client['name']} runs every tool without asking the gate."
    override = os.environ.get(client["word"], "")
    if override == "true" or (override != "false" and not requires_trust(client)):
        return ""
    if override == "false":
        return f"{client['word']} is false. {consequence}"
    try:
        level = find_trust_level(client, root)
    except (OSError, ValueError, TypeError) as error:
        return f"{trust_file(client)} cannot be read ({error}). {consequence}"
    if level in TRUSTED:
        return ""
    state = "was told not to trust this folder" if level else "was not told yet to trust this folder"
    alternative = f", or without a terminal set {client['word']}=true" if client["word"] else ""
    advice = f"start `{program}` here and say yes, or in /permissions{alternative}"
    return f"{client['name']} {state}: {advice}. {consequence}"


def requires_trust(client: dict[str, Any]) -> bool:
    enabled = bool(client["on"])
    for path in client["settings"]:
        try:
            setting = read_settings(path).get("security", {}).get("folderTrust", {}).get("enabled")
        except (OSError, ValueError, TypeError, AttributeError):
            continue  # the client itself says what is wrong with them
        enabled = setting if isinstance(setting, bool) else enabled
    return enabled


def trust_file(client: dict[str, Any]) -> str:
    return os.path.expanduser(os.environ.get(client["file_variable"]) or client["file"])


def find_trust_level(client: dict[str, Any], root: str) -> str:
    """The word of the rule that holds, "" without one. ValueError for a file that holds no rules."""
    real_root, matches = os.path.realpath(root), []
    for rule, level in read_settings(trust_file(client)).items():
        directory = os.path.realpath(os.path.dirname(rule) if level == "TRUST_PARENT" else rule)
        if level in TRUSTED | {DISTRUSTED} and (real_root + os.sep).startswith(
            directory.rstrip(os.sep) + os.sep
        ):
            length = len(directory if client["innermost"] else os.path.normpath(rule))
            matches.append((length, level == DISTRUSTED, str(level)))
    return max(matches)[-1] if matches else ""


def read_settings(path: str) -> dict[str, Any]:
    """An object with or without comments, {} for no file."""
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            settings = read_json(file.read()).value
    except FileNotFoundError:
        return {}
    if not isinstance(settings, dict):
        raise TypeError("it holds no object")
    return settings
