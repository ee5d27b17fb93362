"""The table of faults in docs/operate.md, between two marks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.faults import FAULTS, Fault

MANUAL = Path(__file__).resolve().parent.parent.parent / "docs" / "operate.md"
BEGINS, ENDS = "<!-- made by `make chaos` -->\n", "<!-- end -->\n"
HEAD = (
    "| on | fault | how | callers read | acknowledged | lost | recorded twice |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n"
)


@dataclass(frozen=True, slots=True)
class Row:
    fault: Fault
    answers: tuple[str, ...]
    acknowledged: int
    lost: int
    twice: int

    def render(self) -> str:
        numbers = (f"{number:,}" for number in (self.acknowledged, self.lost, self.twice))
        cells = (self.fault.database, self.fault.name, self.fault.how, ", ".join(self.answers), *numbers)
        return f"| {' | '.join(cells)} |\n"


def read_rows(text: str) -> dict[tuple[str, str], str]:
    """Return the lines of the table by database and fault."""
    section = text.split(BEGINS, 1)[1].split(ENDS, 1)[0]
    lines = re.findall(r"^\| .+ \|$", section, re.MULTILINE)[2:]
    rows = {}
    for line in lines:
        _, database, name, *_ = (cell.strip() for cell in line.split("|"))
        rows[database, name] = f"{line}\n"
    return rows


def update(text: str, rows: Iterable[Row]) -> str:
    """Put rows into the table: those of faults that were not tried stay, and all follow the order of `FAULTS`."""
    known = read_rows(text) | {(row.fault.database, row.fault.name): row.render() for row in rows}
    lines = [known[key] for fault in FAULTS if (key := (fault.database, fault.name)) in known]
    before, rest = text.split(BEGINS, 1)
    return before + BEGINS + HEAD + "".join(lines) + ENDS + rest.split(ENDS, 1)[1]
