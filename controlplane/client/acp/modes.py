"""Which modes of an agent ask before they act. Only these may be set; an agent that acts unasked is no agent
that a gate in front of its questions can hold."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# By id, as agents name them; some write an address that ends with one of these.
ASKING_MODES = ("default", "ask", "agent", "build", "plan", "read-only")
MODE_CATEGORY = "mode"


class ModeRule:
    """Which modes may be set: those that ask, or the one that the user has named."""

    def __init__(self, named: str = "") -> None:
        self.named = named

    def allows(self, mode: Any) -> bool:
        if self.named:
            return bool(mode == self.named)
        return isinstance(mode, str) and mode.rpartition("#")[2].lower() in ASKING_MODES

    def choose(self, current: Any, available: list[Any]) -> str:
        """Return the mode to pin: the current one where it may stay, else the first that may be set.

        Raise LookupError without any.
        """
        for mode in (current, *available):
            if self.allows(mode):
                return str(mode)
        raise LookupError(
            f"Of its modes ({', '.join(map(str, available))}) none is known to ask before it acts. Name one"
            " with --mode, if you know that it does."
        )


class ModeSetting:
    """A session's mode as the agent describes it: the setting of its own, or one of its options."""

    def __init__(self, current: Any, available: list[Any], option: str = "") -> None:
        self.current, self.available, self.option = current, available, option

    def build_request(self, session_id: str, mode: str) -> tuple[str, dict[str, Any]]:
        """Return the method and the parameters that set the mode."""
        if self.option:
            setting = {"sessionId": session_id, "configId": self.option, "value": mode}
            return "session/set_config_option", setting
        return "session/set_mode", {"sessionId": session_id, "modeId": mode}


def list_mode_settings(result: dict[str, Any]) -> list[ModeSetting]:
    """Return the settings for the mode in an agent's description of a session; both forms may stand in it."""
    settings = [
        ModeSetting(option.get("currentValue"), list_values(option), str(option.get("id")))
        for option in result.get("configOptions") or ()
        if is_mode_option(option)
    ]
    modes = result.get("modes")
    if isinstance(modes, dict):
        available = [mode.get("id") for mode in modes.get("availableModes") or ()]
        settings.append(ModeSetting(modes.get("currentModeId"), available))
    return settings


def is_mode_option(option: Any) -> bool:
    return isinstance(option, dict) and MODE_CATEGORY in {option.get("category"), option.get("id")}


def list_values(option: dict[str, Any]) -> list[Any]:
    """Return the values of an option, also of those in groups."""
    values: list[Any] = []
    for entry in option.get("options") or ():
        values += list_values(entry) if "options" in entry else [entry.get("value")]
    return values


def show_only_asking(result: dict[str, Any], rule: ModeRule, pinned: dict[str, str]) -> dict[str, Any]:
    """Return the description for the editor: with the modes that may be set, and those that were pinned."""
    shown = dict(result)
    if isinstance(result.get("modes"), dict):
        modes = result["modes"]
        available = [mode for mode in modes.get("availableModes") or () if rule.allows(mode.get("id"))]
        shown["modes"] = {**modes, "availableModes": available, "currentModeId": pinned[""]}
    if result.get("configOptions"):
        shown["configOptions"] = [show_option(option, rule, pinned) for option in result["configOptions"]]
    return shown


def show_option(option: Any, rule: ModeRule, pinned: dict[str, str]) -> Any:
    if not is_mode_option(option):
        return option
    values = [entry for entry in option.get("options") or () if rule.allows(entry.get("value"))]
    return {**option, "options": values, "currentValue": pinned[str(option.get("id"))]}
