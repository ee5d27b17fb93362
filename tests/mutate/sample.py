"""Sample mutants, and estimate the score of all of them."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from math import sqrt

SEED = "intent control plane"
# A small module is judged by more than a mutant or two.
MIN_PER_MODULE = 5
# Of a 95 % interval.
Z_SCORE = 1.96


def get_module(mutant: str) -> str:
    return mutant.rpartition(".")[0].removeprefix("controlplane.policy.")


def select(mutants: list[str], size: int | None, patterns: list[str]) -> list[str]:
    """Return the mutants that match a pattern, of each module its share of `size`, in a reproducible random order."""
    matching = [one for one in mutants if not patterns or any(fnmatchcase(one, each) for each in patterns)]
    modules = defaultdict(list)
    for mutant in sorted(matching, key=_rank):
        modules[get_module(mutant)].append(mutant)
    share = 1 if size is None else size / len(matching)
    sample = [
        one for found in modules.values() for one in found[: max(MIN_PER_MODULE, round(share * len(found)))]
    ]
    return sorted(sample, key=_rank)


def _rank(mutant: str) -> str:
    return hashlib.sha256(f"{SEED}\n{mutant}".encode()).hexdigest()


def compute_interval(killed: int, judged: int) -> tuple[float, float]:
    """Return Wilson's score interval of a share between 0 and 1."""
    share, spread = killed / judged, Z_SCORE**2 / judged
    middle = (share + spread / 2) / (1 + spread)
    width = Z_SCORE * sqrt(share * (1 - share) / judged + spread / (4 * judged)) / (1 + spread)
    return max(0.0, middle - width), min(1.0, middle + width)


def render_report(mutants: list[str], fates: dict[str, str]) -> str:
    """Return a line per module and one for all, which weighs each module by its mutants, judged or not."""
    sizes = Counter(map(get_module, mutants))
    modules = defaultdict(Counter)
    for mutant, fate in fates.items():
        modules[get_module(mutant)][fate] += 1
    lines = [_render_line("module", "mutants", "judged", *FATES, "killed %", "95 %")]
    lines += [_render_module(name, sizes[name], counts) for name, counts in sorted(modules.items())]
    return "\n".join([*lines, _render_total(sizes, modules)])


FATES = ("killed", "timeout", "survived", "unreached")
_DEAD = ("killed", "timeout")


def _render_line(*cells: object) -> str:
    name, *others = cells
    return f"{name!s:<22}" + "".join(f"  {cell!s:>9}" for cell in others)


def _render_module(name: str, size: int, counts: Counter[str]) -> str:
    judged, dead = counts.total(), sum(counts[fate] for fate in _DEAD)
    low, high = compute_interval(dead, judged)
    return _render_line(
        name,
        size,
        judged,
        *(counts[fate] for fate in FATES),
        f"{dead / judged:.1%}",
        f"{low:.0%} to {high:.0%}",
    )


def _render_total(sizes: Counter[str], modules: dict[str, Counter[str]]) -> str:
    """A stratified estimate; a module that is judged completely adds no variance."""
    mutants = sum(sizes[name] for name in modules)
    total, variance = 0.0, 0.0
    for name, counts in modules.items():
        judged = counts.total()
        dead = sum(counts[fate] for fate in _DEAD)
        weight = sizes[name] / mutants
        total += weight * dead / judged
        likely = (dead + 1) / (judged + 2)  # a few mutants, all of them killed, are no certainty
        variance += weight**2 * likely * (1 - likely) / judged * (1 - judged / sizes[name])
    totals = sum(modules.values(), Counter())
    width = Z_SCORE * sqrt(variance)
    return _render_line(
        "all",
        mutants,
        totals.total(),
        *(totals[fate] for fate in FATES),
        f"{total:.1%}",
        f"{max(0.0, total - width):.1%} to {min(1.0, total + width):.1%}",
    )
