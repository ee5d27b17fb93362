"""Record many mutations at once, e.g. the files that one command changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from controlplane.shared.database.sqlite_lock import write_transaction
from traces.entries.deduplicate import SubmittedEntry
from traces.entries.mutation_class_check import check_claimed_class
from traces.entries.projections import seal_rows, write_rows
from traces.entries.record import Mutation, MutationAuthor, StoreOptions, build_trace_entry, to_ledger_entry
from traces.entry_schema import parse_entry
from traces.ledger.append import NewEntry, append_many

BATCH = 250  # entries a statement: SQLite allows a limited number of parameters


def record_mutations(workspace_id: int, mutations: Iterable[Mutation], author: MutationAuthor) -> None:
    """Record mutations that no tool call reports, each as a trace entry. 5 statements for 250 of them.

    Their `problems` become no lessons. Raise `MutationFieldError`, with nothing recorded.
    """
    with write_transaction():
        rest = iter(mutations)
        while batch := tuple(islice(rest, BATCH)):
            _record(workspace_id, batch, author)


def _record(workspace_id: int, mutations: Sequence[Mutation], author: MutationAuthor) -> None:
    entries = [build_trace_entry(mutation, author) for mutation in mutations]
    parsed_entries = [parse_entry(entry) for entry in entries]
    sealed_rows = [seal_rows(workspace_id, parsed, imported=False) for parsed in parsed_entries]
    new: list[NewEntry] = []
    for mutation, entry, parsed, sealed in zip(mutations, entries, parsed_entries, sealed_rows, strict=True):
        row = to_ledger_entry(workspace_id, SubmittedEntry(entry), parsed, sealed, StoreOptions(author.actor))
        check = check_claimed_class(mutation.mutation_class, mutation.computed_class)
        new.append(replace(row, agent=author.agent or row.agent, reason=check))
    appended = append_many(new)
    write_rows((row.id, sealed.rows) for row, sealed in zip(appended, sealed_rows, strict=True))
