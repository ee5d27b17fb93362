"""The rules of intents as they are now: whether an intent may change a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from controlplane.models import Workspace
from controlplane.policy.model import Reason, Snapshot, Target
from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.rules.path_rules import compile_rules, find_write_objection
from intents.models import Intent
from intents.rules.ignore_files import list_ignore_texts
from sessions.core_values import load_policy, to_core_intent
from sessions.reconciliation.diff import DiffEntry

OBJECTION_TEXTS: Mapping[Reason, str] = {
    Reason.NOT_IN_SCOPE: "It is outside the scope of {intent}.",
    Reason.EMPTY_SCOPE: "The scope of {intent} is empty.",
    Reason.PROTECTED_PATH: "It is a protected path that {intent} does not name.",
    Reason.INTENTIGNORE: "It is ignored by .intentignore.",
}
_NO_FILESYSTEM = UnknownFilesystem()


@dataclass(slots=True)
class CurrentRules:
    """The rules of all intents as they are now, compiled once for each intent."""

    workspace: Workspace
    intents: Mapping[str, Intent]
    _cache: dict[tuple[str, str], tuple[str, str] | None] = field(default_factory=dict)

    def find_objection(self, file: DiffEntry, intent_id: str) -> tuple[str, str] | None:
        """Return (reason, text) if an intent may not change a file, under its old name too; else None."""
        names = (file.path, file.old_path) if file.old_path and file.status == "R" else (file.path,)
        return next((found for name in names if (found := self._find_cached(name, intent_id))), None)

    def _find_cached(self, path: str, intent_id: str) -> tuple[str, str] | None:
        key = (path, intent_id)
        if key not in self._cache:
            self._cache[key] = self._compute_objection(path, intent_id)
        return self._cache[key]

    def _compute_objection(self, path: str, intent_id: str) -> tuple[str, str] | None:
        if not intent_id:
            return "no_intent", "It was changed under no intent."
        intent = self.intents.get(intent_id)
        if intent is None:
            return "intent_gone", f"{intent_id} is not in the registry."
        snapshot = Snapshot(
            policy=load_policy(self.workspace),
            intent=to_core_intent(intent),
            intentignore=self.workspace.intentignore,
            ignore_files=list_ignore_texts(self.workspace.local_root),
        )
        objections = find_write_objection(Target(path), compile_rules(snapshot), _NO_FILESYSTEM)
        if objections is None:
            return None
        reason = objections[0][1]
        return reason.value, OBJECTION_TEXTS[reason].format(intent=intent_id)
