"""Classify a change from a file's content before and after it; pure, bounded, never guessed."""

from traces.entry_schema import EVOLUTION_CLASS
from traces.mutation_class.compare import REFACTOR, classify_change

__all__ = ["EVOLUTION_CLASS", "REFACTOR", "classify_change"]
