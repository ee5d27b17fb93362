"""`sed`: it reads, but writes with -i, or where its script says so."""

from __future__ import annotations

from dataclasses import replace

from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import DEVICES, ProgramCall
from controlplane.policy.shell.programs.sed_script import Script, scan_script
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

IN_PLACE = ("-i", "--in-place")


def run_sed(call: ProgramCall, parsed: ParsedOptions) -> None:
    scripts, files = _split(parsed)
    for script in scripts:
        _record_script(call, script)
    if not parsed.has(*IN_PLACE):
        call.read_all(files)
        return
    suffixes = [word.value for word in parsed.values(*IN_PLACE)]
    for file in files:
        call.write_existing(file, "write")
        for suffix in suffixes:
            _write_backup(call, file, suffix)


def _split(parsed: ParsedOptions) -> tuple[list[Word], list[Word]]:
    """Return scripts and files. BSD's `-i ''` puts an empty word in front of the script."""
    scripts = parsed.values("-e", "--expression")
    operands = list(parsed.operands)
    if parsed.has("-i") and operands and operands[0].value == "":
        operands.pop(0)
    if not scripts:
        scripts, operands = operands[:1], operands[1:]
    return scripts, operands


def _record_script(call: ProgramCall, word: Word) -> None:
    script = _scan(word)
    for name in script.writes:
        if name not in DEVICES:
            call.write(_to_word(word, name))
    for name in script.reads:
        call.read(_to_word(word, name))


def _scan(word: Word) -> Script:
    span = word.span
    if word.value is None or word.has_wildcard or word.is_file_name:
        raise UnclearCommandError("the sed script is known only when the command runs", span)
    try:
        return scan_script(word.value)
    except UnclearCommandError as error:
        raise UnclearCommandError(error.reason, span) from None


def _to_word(word: Word, name: str) -> Word:
    """Return a file that the script names; sed expands nothing in it, so a leading `~` is a plain name."""
    text = f"./{name}" if name.startswith("~") else name
    return Word(text, text, word.start, word.end)


def _write_backup(call: ProgramCall, file: Word, suffix: str | None) -> None:
    span = file.span
    if suffix is None or "*" in suffix or "/" in suffix or file.value is None:
        raise UnclearCommandError("the name of the backup file is not clear", span)
    call.write(replace(file, value=file.value + suffix))
