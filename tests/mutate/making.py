"""A copy of the project in which every function of the core carries all its mutants."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

from mutmut.mutation.data import LineSpan, MutantLineSpans
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name

CORE = "controlplane/policy"
COPIED = (
    "controlplane",
    "intents",
    "sessions",
    "traces",
    "demo",
    "templates",
    "tests",
    "manage.py",
    "pyproject.toml",
)
# mutmut leaves decorated functions alone, so what remembers answers is given them behind their definition.
REMEMBERED = re.compile(r"^@(lru_cache\(.*\))\ndef (\w+)", re.MULTILINE)
IMPORTED = "from mutmut.mutation.trampoline import wrap_in_trampoline as _mutmut_mutated, MutantDict"
OURS = "from mutmut.mutation.trampoline import MutantDict\nfrom tests.mutate.switch import switchable as _mutmut_mutated"


def make(folder: Path) -> list[str]:
    """Lay the copy out anew below `folder` (which stands in the root of the project); the names of all mutants."""
    for name in COPIED:
        _copy(Path(name), folder / name)
    return [mutant for source in sorted(Path(CORE).rglob("*.py")) for mutant in _mutated(source, folder)]


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)


def _mutated(source: Path, folder: Path) -> list[str]:
    made = _made(source, folder / "made")
    (folder / source).write_text(made["code"].replace(IMPORTED, OURS), encoding="utf-8")
    spans = {name: LineSpan(*span) for name, span in made["spans"].items()}
    MutantLineSpans(path=source, span_by_function_name=spans).save()
    return [get_mutant_name(source, name) for name in made["names"]]


def _made(source: Path, kept: Path) -> dict:
    """mutmut's work on a file takes seconds, so it is kept by what the file says."""
    code = source.read_text(encoding="utf-8")
    remembering = [f"{name} = {cache}({name})\n" for cache, name in REMEMBERED.findall(code)]
    code = REMEMBERED.sub(r"def \2", code) + "".join(remembering)
    file = kept / f"{hashlib.sha256(f'{source} {code}'.encode()).hexdigest()}.json"
    if not file.exists():
        mutated = mutate_file_contents(str(source), code)
        spans = {name: (span.start, span.end) for name, span in mutated.line_span_by_function_name.items()}
        kept.mkdir(parents=True, exist_ok=True)
        file.write_text(
            json.dumps({"code": mutated.code, "names": list(mutated.mutant_names), "spans": spans})
        )
    return json.loads(file.read_text())
