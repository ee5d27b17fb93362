"""`python3 -c '…'`, or `python3 - <<E`: code that only computes is judged by the files that it opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from controlplane.policy.effects import Effect
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.package_managers import run_query
from controlplane.policy.shell.programs.python.code import check_code
from controlplane.policy.shell.programs.roles import CustomProgram
from controlplane.policy.shell.result import UnclearCommandError, UnknownUsageError
from controlplane.policy.shell.word import Word

KIND = "python compute"
# They change neither what the code does nor which modules it finds, but for -I, which leaves out the folder.
OPTIONS = frozenset({"-B", "-u", "-q", "-s", "-E", "-I", "-W", "-Wignore"})


def _python(call: ProgramCall) -> None:
    texts = [word.value for word in call.args]
    code = _find_script(call, texts)
    if code is not None:
        _run_code(call, Word(code, code, *call.span), is_isolated="-I" in texts)
        return
    if "-c" not in texts:
        run_query(call)
        return
    at = texts.index("-c")
    if at + 1 == len(texts) or texts[at + 1] is None or not OPTIONS.issuperset(texts[:at]):
        raise UnknownUsageError("code that is known only when it runs")
    _run_code(call, call.args[at + 1], is_isolated="-I" in texts[:at])


def _find_script(call: ProgramCall, texts: Sequence[str | None]) -> str | None:
    """Return the code that stands in a here-document; Python reads all of it before it runs."""
    options = texts[: texts.index("-")] if "-" in texts else texts
    return call.stdin_text if OPTIONS.issuperset(options) else None


def _run_code(call: ProgramCall, word: Word, *, is_isolated: bool) -> None:
    try:
        files = check_code(word.value or "")
    except UnclearCommandError as error:
        raise UnknownUsageError(error.reason) from error
    if call.recorder.exports_variables:
        raise UnknownUsageError("exported variables that Python may listen to")
    for name in files.reads:
        call.read(replace(word, value=_to_path(name), prefix=name, has_wildcard=False, has_tilde=False))
    for name in files.writes:
        call.write(replace(word, value=_to_path(name), prefix=name, has_wildcard=False, has_tilde=False))
    may_import = files.imports and not is_isolated
    why = "computes, and imports modules that the folder may replace" if may_import else "computes"
    call.recorder.claim(KIND, Effect.RUNS_PROJECT, why)


def _to_path(name: str) -> str:
    """Return a path for which Python expands nothing: a leading `~` is a plain name."""
    return f"./{name}" if name.startswith("~") else name


PYTHON = CustomProgram(_python, "runs")
