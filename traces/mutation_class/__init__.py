"""The class of a change, computed from what a file held before and after it; pure, bounded, never guessed."""

from traces.entry_schema import EVOLUTION
from traces.mutation_class.compare import REFACTOR, mutation_class

__all__ = ["EVOLUTION", "REFACTOR", "mutation_class"]
