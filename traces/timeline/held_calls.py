"""Make one row of a held call: the ask, what was decided, and the call that came back.

The ledger has an entry for each step. They are one event for a reader, and belong together by the id of their
approval. Where a filter or the end of a page left steps out, they are looked up, so that no row shows less
than what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from controlplane.templatetags.times import format_duration
from traces.ledger.missing_bodies import MissingBodies
from traces.models import LedgerEntry
from traces.search_index.lookup import find_approval_entries
from traces.timeline.describe_entries import TimelineRow, describe, name_outcome

RETURNED_NOTES = {"deny": "The call came back and was denied."}
RETURNED_NOTE = "The call came back and was allowed."
REJECTED = "Rejected by "  # in the error of a call that a person has refused before
OPENING_STEPS = frozenset({"held", "requested"})
FOLLOWING_STEPS = frozenset({"returned", "ran"})  # of any number of calls, where a grant covers more


def describe_folded(entries: Sequence[LedgerEntry]) -> list[TimelineRow]:
    """Describe entries in the order of recording, the steps of each held call as one row.

    `number` and `at` of a row are those of its first step among `entries`, `numbers` those of all of them.
    0 queries when body, leaf and files were fetched; up to 9 to look steps up, 2 where bodies are missing.
    """
    if not entries:
        return []
    missing_bodies = MissingBodies(entries[0].workspace_id)
    rows = [describe(entry, missing_bodies) for entry in entries]
    given = {row.number: row for row in rows}
    others = _load_other_steps(entries[0].workspace_id, rows)
    rows += [describe(entry, missing_bodies) for entry in others]
    folded = fold_held_calls(sorted(rows, key=lambda row: row.number))
    return sorted(_select_given(folded, given), key=lambda row: row.number)


def fold_held_calls(rows: Sequence[TimelineRow]) -> list[TimelineRow]:
    """Fold the steps of each held call into its first row. `rows` are in the order of recording."""
    folded: list[TimelineRow] = []
    heads: dict[str, TimelineRow] = {}
    rejected: dict[tuple[str, str, str], TimelineRow] = {}
    followed: set[tuple[str, str]] = set()
    for row in rows:
        head = heads.get(row.approval_id) if row.approval_id else None
        is_rejected_again = head is None and row.outcome == "deny" and REJECTED in row.note
        # The core knows rejected paths, not approvals: such a denial is found by the call itself.
        if is_rejected_again and (head := rejected.pop(_identify_call(row), None)) is not None:
            row.approval_id, row.step = head.approval_id, "returned"
        is_again = row.step in FOLLOWING_STEPS and (row.approval_id, row.step) in followed
        if head is not None and not is_again and (row.step != "returned" or _is_same_call(head, row)):
            _fold(head, row)
            followed.add((row.approval_id, row.step))
            if row.step == "decided" and row.outcome == "rejected":
                rejected[_identify_call(head)] = head
            continue
        if row.step and row.step not in FOLLOWING_STEPS and head is None:
            heads[row.approval_id] = row
        folded.append(row)
    return folded


def _load_other_steps(workspace_id: int, rows: Sequence[TimelineRow]) -> list[LedgerEntry]:
    """Load the steps that are not among the rows, of approvals without a beginning or an end there."""
    steps: dict[str, set[str]] = {}
    for row in rows:
        if row.approval_id and row.step:
            steps.setdefault(row.approval_id, set()).add(row.step)
    incomplete = {
        approval_id
        for approval_id, found in steps.items()
        if found - FOLLOWING_STEPS and not ({"decided", "returned"} <= found and OPENING_STEPS & found)
    }
    numbers = set(find_approval_entries(workspace_id, incomplete)) - {row.number for row in rows}
    if not numbers:
        return []
    return list(LedgerEntry.objects.filter(pk__in=numbers).with_body_and_leaf().prefetch_related("files"))


def _select_given(rows: Sequence[TimelineRow], given: dict[int, TimelineRow]) -> list[TimelineRow]:
    """Return the rows that tell of a given entry, each in the place of the first of those."""
    selected = []
    for row in rows:
        own = [number for number in row.numbers if number in given]
        if own and own[0] != row.number:
            first = given[own[0]]
            row.id, row.number, row.at, row.seal = first.id, first.number, first.at, first.seal
        if own:
            row.numbers = tuple(own)
            selected.append(row)
    return selected


def _identify_call(row: TimelineRow) -> tuple[str, str, str]:
    return row.session_id, row.tool, row.object


def _is_same_call(head: TimelineRow, row: TimelineRow) -> bool:
    """Whether a call is the one that was held: a grant may cover others as well."""
    return head.step != "held" or _identify_call(head) == _identify_call(row)


def _fold(head: TimelineRow, row: TimelineRow) -> None:
    head.numbers += row.numbers
    if row.step == "decided":
        head.verb = f"{head.verb}, {row.verb[:1].lower()}{row.verb[1:]}"
        outcome = name_outcome(row.outcome)
        head.meta = ", ".join([*head.meta.split(", ")[:-1], outcome]) if head.meta else outcome
        head.outcome, head.note = row.outcome, _join(row.note, head.note)
        head.took_ms = (row.at - head.at) // timedelta(milliseconds=1)
    elif row.step == "returned":
        head.note = _join(head.note, RETURNED_NOTES.get(row.outcome, RETURNED_NOTE))
        head.ran = None if row.outcome == "override" else head.ran
    elif row.step == "ran":
        head.note, head.ran = _join(head.note, _describe_ending(row)), None
    elif row.step == "requested" and not head.note:
        head.note = row.note


def _describe_ending(row: TimelineRow) -> str:
    took = "" if row.took_ms is None else f"after {format_duration(row.took_ms)}"
    return f"{': '.join(filter(None, (row.verb, ' '.join(filter(None, (row.meta, took))))))}."


def _join(first: str, second: str) -> str:
    if not (first and second):
        return first or second
    return f"{first}{'' if first.endswith(('.', '!', '?', '…')) else '.'} {second}"
