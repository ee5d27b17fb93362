"""Programs that write files which follow from their arguments, but are not named there."""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.policy.shell.names import to_names
from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.mkdir import list_parents
from controlplane.policy.shell.programs.roles import Handler, record_operands
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

DD_KEYS = to_names(
    "bs cbs conv count ibs iflag iseek obs oflag oseek seek skip status",
)
SPLIT_SUFFIXES = ("aa", "ab", "zz")
CSPLIT_SUFFIXES = ("00", "01", "99")


def _rmdir(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `rmdir`; with -p it removes the parents too, as far as they are empty."""
    for word in parsed.operands:
        call.write(word, "delete")
        if parsed.has(*parsed.row.parents):
            for parent in list_parents(word):
                call.write(parent, "delete")


def _dd(call: ProgramCall, parsed: ParsedOptions) -> None:
    for word in parsed.operands:
        key, equals, value = word.prefix.partition("=")
        name = Word(None if word.value is None else value, value, word.start, word.end, word.has_wildcard)
        if key == "if" and equals:
            call.read(name)
        elif key == "of" and equals:
            call.write(name)
        elif key not in DD_KEYS or not equals:
            raise UnclearCommandError("an operand of dd that is not known", word.span)


def _shuf(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `shuf`, which shuffles its operands themselves with -e, and numbers with -i."""
    if not parsed.has("-e", "-i", "--echo", "--input-range"):
        record_operands(call, parsed)


def _split(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `split`, which writes `PREFIXaa`, `PREFIXab` …; three samples stand for all."""
    call.read_all(parsed.operands[:1])
    prefix = parsed.operands[1] if len(parsed.operands) > 1 else Word("x", "x", *call.span)
    _write_samples(call, prefix, SPLIT_SUFFIXES)


def _csplit(call: ProgramCall, parsed: ParsedOptions) -> None:
    call.read_all(parsed.operands[:1])
    prefixes = parsed.values("-f", "--prefix")
    _write_samples(call, prefixes[-1] if prefixes else Word("xx", "xx", *call.span), CSPLIT_SUFFIXES)


def _write_samples(call: ProgramCall, prefix: Word, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        value = None if prefix.value is None else prefix.value + suffix
        call.write(
            Word(value, prefix.prefix, prefix.start, prefix.end, prefix.has_wildcard, prefix.has_tilde)
        )


def _compress(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `gzip` and the like: the file is replaced by one of another name."""
    if parsed.has("-c", "--stdout", "--to-stdout", "-t", "-l", "--test", "--list"):
        call.read_all(parsed.operands)
        return
    decompresses = parsed.has("-d", "--decompress") or call.name.startswith(("gun", "bun", "un"))
    suffix = SUFFIXES[call.name]
    for word in parsed.operands:
        if decompresses and not (word.value or "").endswith(suffix):  # x.tgz gives x.tar
            raise UnclearCommandError("the name of the decompressed file is not known", word.span)
        call.write(word, "delete")
        call.write(_toggle_suffix(word, suffix))


def _toggle_suffix(word: Word, suffix: str) -> Word:
    name = word.value or ""
    text = name.removesuffix(suffix) if name.endswith(suffix) else name + suffix
    return Word(text, text, word.start, word.end, word.has_wildcard, word.has_tilde)


SUFFIXES = {
    name: suffix
    for suffix, names in {
        ".gz": "gzip gunzip",
        ".bz2": "bzip2 bunzip2",
        ".xz": "xz unxz",
        ".zst": "zstd unzstd",
    }.items()
    for name in names.split()
}


WRITERS: Mapping[str, Handler] = {
    "rmdir": _rmdir,
    "dd": _dd,
    "shuf": _shuf,
    "split": _split,
    "csplit": _csplit,
    "gzip": _compress,
}
