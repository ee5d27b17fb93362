"""Replace mutmut's own decorator: a mutant is switched on by giving the function the mutant's code.

So there is no wrapper between a caller and the function: tests run at their usual speed and stack depth.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps

# What runs while the core is imported needs its mutant before this process could switch it on.
ON_IMPORT = os.environ.get("MUTANT_ON_IMPORT", "")
# By name without the mutant's number: the function, and its mutants by their names.
FUNCTIONS: dict[str, tuple[Callable, dict[str, Callable]]] = {}


def switchable(mutants: dict[str, Callable], is_classmethod: bool = False):
    def decorate(function: Callable) -> Callable:
        name = f"{function.__module__}.{_mangle(function.__qualname__)}"
        FUNCTIONS[name] = (function, mutants)
        return _look_up_on_call(function) if ON_IMPORT.startswith(f"{name}__mutmut_") else function

    return decorate


def _mangle(name: str) -> str:
    owner, _, last = name.rpartition(".")
    return f"xǁ{owner}ǁ{last}" if owner else f"x_{last}"


def _look_up_on_call(function: Callable) -> Callable:
    """Look the mutant up when it is first called: it is defined after the function."""
    owner, _, _ = function.__qualname__.rpartition(".")

    @wraps(function)
    def mutant(*args, **kwargs):
        names = vars(function_globals[owner]) if owner else function_globals
        found = names[ON_IMPORT.rpartition(".")[2]]
        return getattr(found, "__func__", found)(*args, **kwargs)

    function_globals = vars(sys.modules[function.__module__])
    return mutant


def switch_on(mutant: str) -> None:
    module, _, name = mutant.rpartition(".")
    function, mutants = FUNCTIONS[f"{module}.{name.partition('__mutmut_')[0]}"]
    found = getattr(mutants[name], "__func__", mutants[name])
    function.__code__ = found.__code__
    function.__defaults__ = found.__defaults__
    function.__kwdefaults__ = found.__kwdefaults__


def names_by_code() -> dict[object, str]:
    return {function.__code__: name for name, (function, _) in FUNCTIONS.items()}
