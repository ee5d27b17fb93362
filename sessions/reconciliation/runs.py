"""What contained runs reported about some paths, by the word of their clients."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Q

from sessions.models import ContainedRun
from sessions.runs.landing import was_to_land

MAX_RUNS = 2_000  # of the workspace, the newest


@dataclass(frozen=True, slots=True)
class RunEffect:
    """A reported change. `landed`: it was to reach the workspace; `approved`: because a person said so."""

    path: str
    change: str
    after: str
    mode: str
    landed: bool
    approved: bool
    session_id: str
    intent_id: str
    decision_id: str

    @property
    def is_executable(self) -> bool | None:
        """Whether it can be executed afterwards; None where the report does not say."""
        return bool(int(self.mode, 8) & 0o111) if self.mode.isdigit() else None


def list_run_effects(
    workspace_id: int, paths: Collection[str], *, session_id: str = ""
) -> Iterator[RunEffect]:
    """Yield what runs reported about these paths, the newest run first. 1 query."""
    runs = ContainedRun.objects.for_workspace(workspace_id).filter(status=ContainedRun.Status.REPORTED)
    if session_id:
        runs = runs.filter(session__session_id=session_id)
    wanted = set(paths)
    for run in runs.filter(~Q(effects=[])).select_related("session").order_by("-pk")[:MAX_RUNS].iterator():
        yield from _list_effects(run, wanted)


def _list_effects(run: ContainedRun, wanted: Collection[str]) -> Iterable[RunEffect]:
    for effect in run.effects:
        if effect["path"] in wanted:
            yield RunEffect(
                path=effect["path"],
                change=effect["change"],
                after=effect.get("after", ""),
                mode=effect.get("mode", ""),
                landed=was_to_land(effect) and not effect.get("refused"),
                approved=bool(effect.get("landed")),
                session_id=run.session.session_id,
                intent_id=run.session.selected_intent_id,
                decision_id=run.decision_id,
            )
