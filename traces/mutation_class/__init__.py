"""The class of a change, computed from what a file held before and after it; pure, bounded, never guessed."""

from traces.mutation_class.comparing import REFACTOR, mutation_class
from traces.shape import EVOLUTION

__all__ = ["EVOLUTION", "REFACTOR", "mutation_class"]
