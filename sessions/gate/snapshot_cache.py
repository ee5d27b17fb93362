"""Cache snapshots in the process, checked by revision and never by time.

A cached snapshot may be stale. That is safe: a decision made on it is appended only while its condition
`unchanged` is true in the very statement of the append. A stale one costs a second attempt and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from controlplane.shared.tokens import Bearer
from intents.rules.ignore_files import require_ignore_texts
from sessions.core_values import forget_policies, load_policy
from sessions.gate.snapshot import SessionSnapshot, forget_owners, read_snapshot
from sessions.lifecycle.intent_lock import reclaim_intent
from sessions.lifecycle.open import Opening, open_session
from sessions.stops.store import forget_stops

MAX_SNAPSHOTS = 5_000

_snapshots: OrderedDict[tuple[int, str], SessionSnapshot] = OrderedDict()


def get_snapshot(bearer: Bearer, opening: Opening) -> SessionSnapshot:
    """Return a snapshot from memory (0 queries) or from the database; open the session if it is unknown."""
    snapshot = _snapshots.get((bearer.workspace_id, opening.session_id))
    # A session opened without a root gets it from the first call that names one, so that one is not cached.
    # A conversation that its client has ended goes on with this call.
    if (
        snapshot is None
        or snapshot.session.can_resume
        or (not snapshot.session.root and (opening.root or opening.cwd))
    ):
        session, _ = open_session(bearer, opening)
        if session.intent is None and session.selected_intent_id and not session.ended:
            reclaim_intent(session, load_policy(session.workspace))
        return remember(read_snapshot(session))
    return _with_ignore_files(snapshot)


def _with_ignore_files(snapshot: SessionSnapshot) -> SessionSnapshot:
    """Bring the `.intentignore` files of a cached snapshot up to date: no revision counts their changes."""
    texts = require_ignore_texts(snapshot.local_root)
    if texts == snapshot.core.ignore_files:
        return snapshot
    return remember(replace(snapshot, core=replace(snapshot.core, ignore_files=texts)))


def remember(snapshot: SessionSnapshot) -> SessionSnapshot:
    """Cache a snapshot and return it; the least recently stored one makes room."""
    if snapshot.core.intent_held_by_other:
        return snapshot  # no revision of this session tells when the other one lets go: read it each time
    key = (snapshot.session.workspace_id, snapshot.session.session_id)
    _snapshots[key] = snapshot
    _snapshots.move_to_end(key)
    while len(_snapshots) > MAX_SNAPSHOTS:
        _snapshots.popitem(last=False)
    return snapshot


def has_news(workspace_id: int, session_id: str) -> bool:
    """Return whether the cached snapshot of a session knows of a decision to tell its agent. 0 queries."""
    snapshot = _snapshots.get((workspace_id, session_id))
    return snapshot is not None and snapshot.has_news


def forget(workspace_id: int, session_id: str) -> None:
    """Drop the snapshot of a session that this process has changed."""
    _snapshots.pop((workspace_id, session_id), None)


def forget_all() -> None:
    """Empty every cache of the gate, for tests that roll revisions back."""
    _snapshots.clear()
    forget_policies()
    forget_owners()
    forget_stops()
