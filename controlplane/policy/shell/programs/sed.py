"""`sed`: a reader that becomes a writer by -i, or by what its script says."""

from __future__ import annotations

from dataclasses import replace

from controlplane.policy.shell.command import DEVICES, Call, Program
from controlplane.policy.shell.options import Parsed, spec
from controlplane.policy.shell.programs.sed_script import Script, scan
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.word import Word

IN_PLACE = ("-i", "--in-place")
SED = spec(
    "-nErsuz -e= -l= -i? --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix "
    "--sandbox --debug --expression= --line-length= --in-place?",
    "-*",
)


def _sed(call: Call, parsed: Parsed) -> None:
    scripts, files = _split(parsed)
    for script in scripts:
        _effects(call, script)
    if not parsed.has(*IN_PLACE):
        call.read_all(files)
        return
    suffixes = [word.value for word in parsed.values(*IN_PLACE)]
    for file in files:
        call.change(file, "write")
        for suffix in suffixes:
            _backup(call, file, suffix)


def _split(parsed: Parsed) -> tuple[list[Word], list[Word]]:
    """Scripts and files. BSD's `-i ''` puts an empty word in front of the script."""
    scripts = parsed.values("-e", "--expression")
    operands = list(parsed.operands)
    if parsed.has("-i") and operands and operands[0].value == "":
        operands.pop(0)
    if not scripts:
        scripts, operands = operands[:1], operands[1:]
    return scripts, operands


def _effects(call: Call, word: Word) -> None:
    script = _scan(word)
    for name in script.writes:
        if name not in DEVICES:
            call.write(_named(word, name))
    for name in script.reads:
        call.read(_named(word, name))


def _scan(word: Word) -> Script:
    span = (word.start, word.end)
    if word.value is None or word.wild or word.listed:
        raise UnclearError("the sed script is not known", span)
    try:
        return scan(word.value)
    except UnclearError as error:
        raise UnclearError(error.why, span) from None


def _named(word: Word, name: str) -> Word:
    """A file that the script names; sed does not expand anything in it."""
    text = f"./{name}" if name.startswith("~") else name
    return Word(text, text, word.start, word.end)


def _backup(call: Call, file: Word, suffix: str | None) -> None:
    span = (file.start, file.end)
    if suffix is None or "*" in suffix or "/" in suffix or file.value is None:
        raise UnclearError("where the backup goes is not clear", span)
    call.write(replace(file, value=file.value + suffix))


SED_PROGRAM = Program(SED, _sed)
