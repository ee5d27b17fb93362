"""Which mutants are judged, and what their fate says about all of them."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from math import sqrt

SEED = "intent control plane"
# So that a small module is judged by more than a mutant or two.
AT_LEAST = 5
# Standard errors either side that hold 95 % of samples.
WIDTH = 1.96


def module_of(mutant: str) -> str:
    return mutant.rpartition(".")[0].removeprefix("controlplane.policy.")


def chosen(mutants: list[str], size: int | None, patterns: list[str]) -> list[str]:
    """Those that fit a pattern; of each module its share of `size`. The same for the same names, in random order."""
    wanted = [one for one in mutants if not patterns or any(fnmatchcase(one, each) for each in patterns)]
    modules = defaultdict(list)
    for mutant in sorted(wanted, key=_rank):
        modules[module_of(mutant)].append(mutant)
    share = 1 if size is None else size / len(wanted)
    taken = [one for found in modules.values() for one in found[: max(AT_LEAST, round(share * len(found)))]]
    return sorted(taken, key=_rank)


def _rank(mutant: str) -> str:
    return hashlib.sha256(f"{SEED}\n{mutant}".encode()).hexdigest()


def interval(killed: int, judged: int) -> tuple[float, float]:
    """Wilson's, for a share between 0 and 1."""
    share, spread = killed / judged, WIDTH**2 / judged
    middle = (share + spread / 2) / (1 + spread)
    width = WIDTH * sqrt(share * (1 - share) / judged + spread / (4 * judged)) / (1 + spread)
    return max(0.0, middle - width), min(1.0, middle + width)


def report(mutants: list[str], fates: dict[str, str]) -> str:
    """A line a module and one for all: the latter weighs each module by its mutants, judged or not."""
    sizes = Counter(map(module_of, mutants))
    modules = defaultdict(Counter)
    for mutant, fate in fates.items():
        modules[module_of(mutant)][fate] += 1
    lines = [_line("module", "mutants", "judged", *FATES, "killed %", "95 %")]
    lines += [_of_module(name, sizes[name], counts) for name, counts in sorted(modules.items())]
    return "\n".join([*lines, _of_all(sizes, modules)])


FATES = ("killed", "timeout", "survived", "unreached")
_DEAD = ("killed", "timeout")


def _line(*cells: object) -> str:
    name, *others = cells
    return f"{name!s:<22}" + "".join(f"  {cell!s:>9}" for cell in others)


def _of_module(name: str, size: int, counts: Counter[str]) -> str:
    judged, dead = counts.total(), sum(counts[fate] for fate in _DEAD)
    low, high = interval(dead, judged)
    return _line(
        name,
        size,
        judged,
        *(counts[fate] for fate in FATES),
        f"{dead / judged:.1%}",
        f"{low:.0%} to {high:.0%}",
    )


def _of_all(sizes: Counter[str], modules: dict[str, Counter[str]]) -> str:
    """A stratified estimate; what is judged whole adds no doubt."""
    weighed = sum(sizes[name] for name in modules)
    total, doubt = 0.0, 0.0
    for name, counts in modules.items():
        judged = counts.total()
        dead = sum(counts[fate] for fate in _DEAD)
        weight = sizes[name] / weighed
        total += weight * dead / judged
        likely = (dead + 1) / (judged + 2)  # a few mutants, all of them killed, are no certainty
        doubt += weight**2 * likely * (1 - likely) / judged * (1 - judged / sizes[name])
    every = sum(modules.values(), Counter())
    width = WIDTH * sqrt(doubt)
    return _line(
        "all",
        weighed,
        every.total(),
        *(every[fate] for fate in FATES),
        f"{total:.1%}",
        f"{max(0.0, total - width):.1%} to {min(1.0, total + width):.1%}",
    )
