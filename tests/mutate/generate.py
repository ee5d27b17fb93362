"""Generate a copy of the project in which every function of the core carries all its mutants."""

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
COPIED_PATHS = (
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
# mutmut leaves decorated functions alone, so `lru_cache` is applied after the definition instead.
CACHED_FUNCTION = re.compile(r"^@(lru_cache\(.*\))\ndef (\w+)", re.MULTILINE)
MUTMUT_IMPORT = "from mutmut.mutation.trampoline import wrap_in_trampoline as _mutmut_mutated, MutantDict"
SWITCH_IMPORT = "from mutmut.mutation.trampoline import MutantDict\nfrom tests.mutate.switch import switchable as _mutmut_mutated"


def generate_mutants(folder: Path) -> list[str]:
    """Write the copy below `folder` (in the root of the project) and return the names of all mutants."""
    for name in COPIED_PATHS:
        _copy(Path(name), folder / name)
    return [mutant for source in sorted(Path(CORE).rglob("*.py")) for mutant in _mutate_file(source, folder)]


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)


def _mutate_file(source: Path, folder: Path) -> list[str]:
    generated = _load_or_generate(source, folder / "made")
    (folder / source).write_text(generated["code"].replace(MUTMUT_IMPORT, SWITCH_IMPORT), encoding="utf-8")
    spans = {name: LineSpan(*span) for name, span in generated["spans"].items()}
    MutantLineSpans(path=source, span_by_function_name=spans).save()
    return [get_mutant_name(source, name) for name in generated["names"]]


def _load_or_generate(source: Path, cache_folder: Path) -> dict:
    """Return mutmut's result for a file. It takes seconds, so it is cached by the file's content."""
    code = source.read_text(encoding="utf-8")
    decorated = [f"{name} = {cache}({name})\n" for cache, name in CACHED_FUNCTION.findall(code)]
    code = CACHED_FUNCTION.sub(r"def \2", code) + "".join(decorated)
    file = cache_folder / f"{hashlib.sha256(f'{source} {code}'.encode()).hexdigest()}.json"
    if not file.exists():
        mutated = mutate_file_contents(str(source), code)
        spans = {name: (span.start, span.end) for name, span in mutated.line_span_by_function_name.items()}
        cache_folder.mkdir(parents=True, exist_ok=True)
        file.write_text(
            json.dumps({"code": mutated.code, "names": list(mutated.mutant_names), "spans": spans})
        )
    return json.loads(file.read_text())
