"""What really changed, held against what the control plane knows: explained, unexplained, out of scope.

A file is explained when a trace ends in its very content, the gate had let a call of that session change
that path, and the trace's intent may change it (or a human let it pass). Everything else is a finding.
Scopes, `.intentignore` and protected paths count as they are now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from controlplane.models import Workspace
from controlplane.policy.model import Reason, Snapshot, Target
from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.rules.path_rules import compile_rules, find_write_objection
from intents.models import Intent
from sessions.core_values import load_policy, to_core_intent
from sessions.reconciliation.evidence import Evidence, Traced, gather
from traces.entries.reconciliations import Subject
from traces.entry_schema import canonical_path

MAX_FILES = 10_000
EXPLAINED, UNEXPLAINED, OUT_OF_SCOPE = "explained", "unexplained", "out_of_scope"
OUTCOMES = (EXPLAINED, UNEXPLAINED, OUT_OF_SCOPE)
GROUNDS: Mapping[Reason, str] = {
    Reason.NOT_IN_SCOPE: "{intent}'s scope does not hold it.",
    Reason.EMPTY_SCOPE: "{intent}'s scope is empty.",
    Reason.PROTECTED_PATH: "It is a protected path, which {intent} does not name.",
    Reason.INTENTIGNORE: ".intentignore holds it off.",
}
_NO_WORLD = UnknownFilesystem()


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of `git diff --raw`. `content_hash` is None where it has no content now (deleted, submodule).

    `readable` is False for a name that is no UTF-8, which nothing here can be held against.
    """

    path: str
    status: str = "M"
    content_hash: str | None = None
    old_path: str = ""
    mode_only: bool = False
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Range:
    """Commits and the files between them. Where a session or an intent is named, only its traces count."""

    base: str
    head: str
    files: tuple[ChangedFile, ...]
    session_id: str = ""
    intent_id: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of a file. `entry_id` is the trace, `decision_id` the gate's decision it rests on."""

    path: str
    status: str
    outcome: str
    reason: str
    text: str
    entry_id: str = ""
    decision_id: str = ""
    session_id: str = ""
    intent_id: str = ""

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) or None for name in self.__slots__}


@dataclass(slots=True)
class Law:
    """What intents may change now. Rules are compiled once for each intent."""

    workspace: Workspace
    intents: Mapping[str, Intent]
    _known: dict[tuple[str, str], tuple[str, str] | None] = field(default_factory=dict)

    def against(self, file: ChangedFile, intent_id: str) -> tuple[str, str] | None:
        """(reason, text) why an intent may not change a file, under its old name too; None where it may."""
        names = (file.path, file.old_path) if file.old_path and file.status == "R" else (file.path,)
        return next((found for name in names if (found := self._known_of(name, intent_id))), None)

    def _known_of(self, path: str, intent_id: str) -> tuple[str, str] | None:
        key = (path, intent_id)
        if key not in self._known:
            self._known[key] = self._against(path, intent_id)
        return self._known[key]

    def _against(self, path: str, intent_id: str) -> tuple[str, str] | None:
        if not intent_id:
            return "no_intent", "It was changed under no intent."
        intent = self.intents.get(intent_id)
        if intent is None:
            return "intent_gone", f"{intent_id} is not in the registry."
        snapshot = Snapshot(
            policy=load_policy(self.workspace),
            intent=to_core_intent(intent),
            intentignore=self.workspace.intentignore,
        )
        found = find_write_objection(Target(path), compile_rules(snapshot), _NO_WORLD)
        if found is None:
            return None
        reason = found[0][1]
        return reason.value, GROUNDS[reason].format(intent=intent_id)


def reconcile(workspace: Workspace, asked: Range) -> dict[str, Any]:
    """The whole answer, findings in the order of the files. Writes nothing.

    Queries: 1 for 500 paths and their old names, 2 for intents and denials, 1 for 500 sessions.
    """
    files = [_placed(file) for file in asked.files]
    names = [name for file in files if file.readable for name in (file.path, file.old_path) if name]
    evidence = gather(workspace.pk, names, session_id=asked.session_id, intent_id=asked.intent_id)
    intents = {row.intent_id: row for row in Intent.objects.filter(workspace=workspace)}
    law = Law(workspace, intents)
    judged = [_judge(file, asked, evidence, law) for file in files]
    return _answer(asked, judged)


def subjects_of(answer: Mapping[str, Any]) -> set[Subject]:
    """The sessions and intents that an answer speaks of."""
    speaking = [answer, *answer["findings"], *answer["explained"]]
    return {
        (subject, one[f"{subject}_id"])
        for one in speaking
        for subject in ("session", "intent")
        if one[f"{subject}_id"]
    }


def _answer(asked: Range, judged: Sequence[Finding]) -> dict[str, Any]:
    counts = Counter(one.outcome for one in judged)
    return {
        "base": asked.base,
        "head": asked.head,
        "session_id": asked.session_id or None,
        "intent_id": asked.intent_id or None,
        "counts": {"files": len(judged), **{outcome: counts[outcome] for outcome in OUTCOMES}},
        "findings": [one.as_json() for one in judged if one.outcome != EXPLAINED],
        "explained": [one.as_json() for one in judged if one.outcome == EXPLAINED],
    }


def _placed(file: ChangedFile) -> ChangedFile:
    """With paths as traces name them; unreadable where a name means no place in the workspace."""
    try:
        old = canonical_path(file.old_path) if file.old_path else ""
        return replace(file, path=canonical_path(file.path), old_path=old)
    except ValueError:
        return replace(file, readable=False)


def _judge(file: ChangedFile, asked: Range, evidence: Evidence, law: Law) -> Finding:
    found = Finding(
        file.path, file.status, UNEXPLAINED, "unreadable_path", "Its name is no path of a workspace."
    )
    if not file.readable:
        return found
    if asked.intent_id:
        ground = law.against(file, asked.intent_id)
        if ground is not None and not evidence.overridden(file.path):
            return replace(
                found, outcome=OUT_OF_SCOPE, reason=ground[0], text=ground[1], intent_id=asked.intent_id
            )
    traces = [one for one in evidence.of(file.path) if _ends_in(one, file)]
    if file.old_path and file.content_hash:
        traces += [one for one in evidence.of(file.old_path) if one.content_hash == file.content_hash]
    governed = [one for one in traces if not one.imported and evidence.let(one.session_id, file.path)]
    if not governed:
        return _without_call(found, file, traces, evidence)
    if file.mode_only:
        text = "Its content is as it was, its mode is not, and traces tell no modes."
        return replace(_with(found, governed[0]), reason="mode_changed", text=text)
    judged = [_under_intent(found, one, file, evidence, law) for one in governed]
    return next((one for one in judged if one.outcome == EXPLAINED), judged[0])


def _ends_in(trace: Traced, file: ChangedFile) -> bool:
    if file.content_hash is None:
        return file.status == "D" and trace.deleted
    return not trace.deleted and trace.content_hash == file.content_hash


def _under_intent(found: Finding, trace: Traced, file: ChangedFile, evidence: Evidence, law: Law) -> Finding:
    decision_id = evidence.let(trace.session_id, file.path)
    found = replace(_with(found, trace), decision_id=decision_id)
    override = evidence.overrides.get((trace.session_id, file.path))
    ground = law.against(file, trace.intent_id)
    if ground is not None and not override:
        return replace(found, outcome=OUT_OF_SCOPE, reason=ground[0], text=ground[1])
    if ground is not None:
        text = f"{ground[1]} A human let this call pass."
        return replace(found, outcome=EXPLAINED, reason="approved", text=text, decision_id=override or "")
    text = "A trace of a governed call ends in this content."
    return replace(found, outcome=EXPLAINED, reason="traced", text=text)


def _without_call(found: Finding, file: ChangedFile, traces: Sequence[Traced], evidence: Evidence) -> Finding:
    """Why nothing explains a file, by the best that is known of it."""
    if traces:
        told = [one for one in traces if not one.imported]
        reason = "traced_without_decision" if told else "imported_trace"
        text = "A trace tells this content, but the gate let no call of its session change this path."
        return replace(_with(found, (told or traces)[0]), reason=reason, text=text)
    newest = next(iter(evidence.of(file.path)), None)
    if newest is not None:
        text = "It was changed after it was traced: by hand, by a formatter or by an ungoverned tool."
        return replace(_with(found, newest), reason="changed_after_trace", text=text)
    denied = evidence.denied.get(file.path)
    if denied is not None:
        text = "The gate denied a call on this path, and it changed nonetheless."
        return replace(found, outcome=OUT_OF_SCOPE, reason="denied", text=text, **denied)
    allowed = evidence.allowed_anywhere(file.path)
    if allowed is not None:
        text = "The gate let a call change this path, but no trace tells what it left there."
        return replace(found, reason="not_traced", text=text, **allowed)
    return replace(found, reason="no_trace", text="No decision and no trace speaks of this path.")


def _with(found: Finding, trace: Traced) -> Finding:
    return replace(found, entry_id=trace.entry_id, session_id=trace.session_id, intent_id=trace.intent_id)
