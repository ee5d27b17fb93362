"""Classify a change from a file's content before and after it; pure, bounded, never guessed."""

from traces.entry_schema import EVOLUTION
from traces.mutation_class.compare import REFACTOR, classify_change

__all__ = ["EVOLUTION", "REFACTOR", "classify_change"]
