"""Some clients ignore hooks and MCP servers of repositories whose directory is not trusted."""

from __future__ import annotations

import os

from controlplane.client.config.json_edit import read_json
from controlplane.client.repository import list_parents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRUSTED = frozenset({"TRUST_FOLDER", "TRUST_PARENT"})
DISTRUSTED = "DO_NOT_TRUST"

# `on`: whether directories need trust by default. `file_variable` may name another `file`; the variable
# `word` decides alone with "true" or "false". Of `settings` the last one wins. Of several matching rules the
# `innermost` directory decides, else the longest rule (TRUST_PARENT applies to its parent).
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
    """Return why the client would ignore our entries in this repository, "" if it would not.

    An editor's trust in its workspace, which takes precedence over the file, is not visible here.
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


COPILOT_FILE = "~/.copilot/config.json"
COPILOT_KEYS = ("trustedFolders", "trusted_folders")


def explain_copilot_distrust(root: str) -> str:
    """Return why Copilot CLI would ignore the entries of this repository, "" if it would not.

    A switch for one run (`--trust-folder`) does not count: a conversation that goes on cannot have it.
    """
    consequence = "Until then Copilot CLI runs every tool without asking the gate."
    try:
        settings = read_settings(COPILOT_FILE)
        folders = [folder for key in COPILOT_KEYS for folder in settings.get(key) or ()]
    except (OSError, ValueError, TypeError) as error:
        return f"{COPILOT_FILE} cannot be read ({error}). {consequence}"
    trusted = {os.path.realpath(folder) for folder in folders if isinstance(folder, str)}
    if trusted.intersection(list_parents(os.path.realpath(root))):  # what lies in it is trusted, too
        return ""
    return (
        "Copilot CLI was not told to remember that this folder is trusted: start `copilot` here and say yes"
        f" for later, too. {consequence}"
    )


def requires_trust(client: dict[str, Any]) -> bool:
    enabled = bool(client["on"])
    for path in client["settings"]:
        try:
            setting = read_settings(path).get("security", {}).get("folderTrust", {}).get("enabled")
        except (OSError, ValueError, TypeError, AttributeError):
            continue  # the client reports faulty settings itself
        enabled = setting if isinstance(setting, bool) else enabled
    return enabled


def trust_file(client: dict[str, Any]) -> str:
    return os.path.expanduser(os.environ.get(client["file_variable"]) or client["file"])


def find_trust_level(client: dict[str, Any], root: str) -> str:
    """Return the level of the deciding rule, "" without one. Raise ValueError for an unreadable file."""
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
    """Return the object of a file with or without comments, {} for a missing file."""
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            settings = read_json(file.read()).value
    except FileNotFoundError:
        return {}
    if not isinstance(settings, dict):
        raise TypeError("it contains no object")
    return settings
