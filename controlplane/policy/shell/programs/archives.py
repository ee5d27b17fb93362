"""`tar` and `unzip`: creating an archive has a known target, listing reads; unpacking writes any file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from controlplane.policy.shell.options import ParsedOptions, build_spec, parse_options
from controlplane.policy.shell.program_call import CustomProgram, KnownProgram, Program, ProgramCall
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

TAR = build_spec(
    "-ctvzjJahp -f= -C= -T= -X=r --create --list --verbose --gzip --bzip2 --xz --zstd --auto-compress "
    "--dereference --file= --directory= --exclude= --exclude-vcs --files-from= --exclude-from=r --sort= "
    "--mtime= --owner= --group= --numeric-owner --format= --no-recursion --one-file-system "
    "--strip-components= --wildcards --anchored",
    "-*",
)


def _tar(call: ProgramCall) -> None:
    """Run `tar`, also with a bundled first word: `tar czf a.tgz src`."""
    args = list(call.args)
    if args and args[0].value and not args[0].value.startswith("-"):
        args[:1] = _unbundle(args[0])
    parsed = parse_options(args, TAR)
    if parsed.has("-T", "--files-from"):
        raise UnclearCommandError("a list that tar reads may name any file, and options")
    for name in ("-X", "--exclude-from"):
        call.read_all(parsed.values(name))
    _record_tar(call, parsed)


def _unbundle(first: Word) -> list[Word]:
    """Return `-czf` for `czf`; only the last letter of the bundle may take a value."""
    letters = first.value or ""
    if any(TAR.options.get(f"-{letter}", "") for letter in letters[:-1]):
        raise UnclearCommandError("options of tar that are not understood", first.span)
    return [replace(first, value=f"-{letters}", prefix=f"-{letters}")]


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


def _unzip(call: ProgramCall, parsed: ParsedOptions) -> None:
    if not parsed.has("-l", "-t", "-Z", "-v"):
        raise UnclearCommandError("unpacks an archive, whose file names are not known")
    call.read_all(parsed.operands[:1])


ARCHIVES: Mapping[str, KnownProgram] = {
    "tar": CustomProgram(_tar),
    "unzip": Program(build_spec("-ltZvq", "-*"), _unzip),
    "zipinfo": Program(build_spec("-12lmsvhzt")),
}
