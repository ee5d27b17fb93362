"""`tar`: creating an archive has a known target, listing reads; unpacking writes any file."""

from __future__ import annotations

from dataclasses import replace

from controlplane.policy.shell.options import ParsedOptions, parse_options
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.table.row import FLAG, TableRow
from controlplane.policy.shell.word import Word


def run_tar(call: ProgramCall) -> None:
    """Run `tar`, also with a bundled first word: `tar czf a.tgz src`."""
    args, row = list(call.args), load_table().files["tar"]
    if args and args[0].value and not args[0].value.startswith("-"):
        args[0] = _unbundle(args[0], row)
    parsed = parse_options(args, row)
    if parsed.has("-T", "--files-from"):
        raise UnclearCommandError("a list that tar reads may name any file, and options")
    for name in ("-X", "--exclude-from"):
        call.read_all(parsed.values(name))
    _record_tar(call, parsed)


def _unbundle(first: Word, row: TableRow) -> Word:
    """Return `-czf` for `czf`; only the last letter of the bundle may take a value."""
    letters = first.value or ""
    if any(row.options.get(f"-{letter}", FLAG) != FLAG for letter in letters[:-1]):
        raise UnclearCommandError("options of tar that are not understood", first.span)
    return replace(first, value=f"-{letters}", prefix=f"-{letters}")


def _record_tar(call: ProgramCall, parsed: ParsedOptions) -> None:
    archives = parsed.values("-f", "--file")
    directories = parsed.values("-C", "--directory")
    if (
        parsed.has("-c", "--create") == parsed.has("-t", "--list")
        or len(archives) > 1
        or len(directories) > 1
    ):
        raise UnclearCommandError("tar is used in a way that is not understood")
    for archive in archives:
        if ":" in archive.prefix:  # tar runs rsh or ssh for it, even to read
            raise UnclearCommandError("an archive on another machine", archive.span)
    if parsed.has("-t", "--list"):
        call.read_all(archives)
        return
    for archive in archives:
        if archive.value != "-":
            call.write(archive)
    for word in parsed.operands:
        call.read(_join_directory(directories, word), recursive=True)


def _join_directory(directories: list[Word], word: Word) -> Word:
    """Return a source of the archive relative to the directory that -C names."""
    if not directories or (word.value or "/").startswith("/") or word.has_tilde:
        return word
    directory = directories[0]
    if directory.value is None:
        raise UnclearCommandError("the current directory is not known here", directory.span)
    value = f"{directory.value}/{word.value}"
    return replace(word, value=value, prefix=value, has_tilde=directory.has_tilde)
