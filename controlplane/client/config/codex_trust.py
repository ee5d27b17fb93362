"""Codex silently skips hooks that nobody trusted. Connecting it trusts ours, as the user asked for them."""

from __future__ import annotations

import json
import re

from controlplane.client.config.config_files import config_path, read_text, write_file
from controlplane.client.config.hook_entries import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SERVER = ("codex", "app-server")  # JSON-RPC, one message per line
SERVER_SECONDS = 20
NOT_ENFORCED = "Until then Codex runs every tool without asking the gate."
CLIENT_INFO = {"name": "icp", "version": "1"}


def explain_codex_distrust(root: str, *, trust: bool = False) -> str:
    """Return why Codex would not run our hooks here, "" if it would; `trust` trusts them first."""
    import subprocess
    import threading

    try:
        server = subprocess.Popen(  # noqa: S603  a fixed command
            SERVER, cwd=root, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        return f"`codex` cannot be run ({error.strerror}): trust the hooks yourself in /hooks. {NOT_ENFORCED}"
    timer = threading.Timer(SERVER_SECONDS, server.kill)
    timer.start()
    try:
        rpc(server, "initialize", {"clientInfo": CLIENT_INFO})
        if trust and (
            untrusted_hooks := [
                hook for hook in list_our_hooks(server, root) if hook["trustStatus"] != "trusted"
            ]
        ):
            rpc(
                server,
                "config/batchWrite",
                {"edits": [build_trust_edit(untrusted_hooks)], "reloadUserConfig": True},
            )
        return explain_hook_states(list_our_hooks(server, root))
    except (OSError, ValueError, LookupError, TypeError) as error:
        return f"Codex did not say whether it trusts the hooks ({error}): see /hooks. {NOT_ENFORCED}"
    finally:
        timer.cancel()
        server.kill()
        server.communicate()


def rpc(server: Any, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of one request. Raise LookupError for an error or no response."""
    server.stdin.write(json.dumps({"id": method, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == method:
            if "result" not in message:
                raise LookupError(str(message.get("error")))
            return dict(message["result"])
    raise LookupError(f"no answer to {method}")


def list_our_hooks(server: Any, root: str) -> list[dict[str, Any]]:
    groups = rpc(server, "hooks/list", {"cwds": [root]})["data"]
    return [hook for place in groups for hook in place["hooks"] if MARK in (hook.get("command") or "")]


def build_trust_edit(hooks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the edit of config.toml that /hooks makes too: the hash of each trusted hook."""
    state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
    return {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}


def explain_hook_states(hooks: list[dict[str, Any]]) -> str:
    if not hooks:
        return (
            f"Codex does not trust this folder: start `codex` here, trust it, connect again. {NOT_ENFORCED}"
        )
    if all(hook["trustStatus"] == "trusted" and hook.get("enabled", True) for hook in hooks):
        return ""
    return f"Codex does not trust the hooks, or they are switched off: open /hooks in it. {NOT_ENFORCED}"


def forget_codex_trust(file: str) -> None:
    """Take out of config.toml the trust in the hooks of a file that holds none any more."""
    path = config_path("", "~/.codex/config.toml")
    text = read_text(path)
    table = rf'(?m)^\[hooks\.state\."{re.escape(file)}:[^"\n]*"\]\n(?:[a-z_]+ *=.*\n)*\n?'
    remaining = re.sub(table, "", text)
    if "[hooks.state." not in remaining:
        remaining = re.sub(r"(?m)^\[hooks\.state\]\n\n?", "", remaining)
    if remaining != text:
        write_file(path, remaining.rstrip("\n") + "\n" if remaining.strip() else "", 0o644)
