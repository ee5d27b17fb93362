"""Archives: making one has a known target, listing one reads; unpacking writes what is inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from controlplane.policy.shell.command import Call, Custom, Entry, Program
from controlplane.policy.shell.options import Parsed, parse_options, spec
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.word import Word

TAR = spec(
    "-ctvzjJahp -f= -C= -T= -X=r --create --list --verbose --gzip --bzip2 --xz --zstd --auto-compress "
    "--dereference --file= --directory= --exclude= --exclude-vcs --files-from= --exclude-from=r --sort= "
    "--mtime= --owner= --group= --numeric-owner --format= --no-recursion --one-file-system "
    "--strip-components= --wildcards --anchored",
    "-*",
)


def _judge_tar(call: Call) -> None:
    """`tar`, with its bundled first word: `tar czf a.tgz src`."""
    args = list(call.args)
    if args and args[0].value and not args[0].value.startswith("-"):
        args[:1] = _bundled(args[0])
    parsed = parse_options(args, TAR)
    if parsed.has("-T", "--files-from"):
        raise UnclearError("a list that tar reads may name any file, and options")
    for name in ("-X", "--exclude-from"):
        call.read_all(parsed.values(name))
    _tar(call, parsed)


def _bundled(first: Word) -> list[Word]:
    """`czf` as `-czf`: only the last letter of the bundle may take a value."""
    letters = first.value or ""
    if any(TAR.options.get(f"-{letter}", "") for letter in letters[:-1]):
        raise UnclearError("options of tar that are not understood", (first.start, first.end))
    return [replace(first, value=f"-{letters}", prefix=f"-{letters}")]


def _tar(call: Call, parsed: Parsed) -> None:
    archives = parsed.values("-f", "--file")
    folders = parsed.values("-C", "--directory")
    if parsed.has("-c", "--create") == parsed.has("-t", "--list") or len(archives) > 1 or len(folders) > 1:
        raise UnclearError("what tar does here is not clear")
    for archive in archives:
        if ":" in archive.prefix:  # tar starts rsh or ssh for it, to read as well
            raise UnclearError("an archive on another machine", (archive.start, archive.end))
    if parsed.has("-t", "--list"):
        call.read_all(archives)
        return
    for archive in archives:
        if archive.value != "-":
            call.write(archive)
    for word in parsed.operands:
        call.read(_below(folders, word), recursive=True)


def _below(folders: list[Word], word: Word) -> Word:
    """A source of the archive, counted from the folder that -C names."""
    if not folders or (word.value or "/").startswith("/") or word.tilde:
        return word
    folder = folders[0]
    if folder.value is None:
        raise UnclearError("the folder is not known here", (folder.start, folder.end))
    value = f"{folder.value}/{word.value}"
    return replace(word, value=value, prefix=value, tilde=folder.tilde)


def _unzip(call: Call, parsed: Parsed) -> None:
    if not parsed.has("-l", "-t", "-Z", "-v"):
        raise UnclearError("writes what is in the archive")
    call.read_all(parsed.operands[:1])


ARCHIVES: Mapping[str, Entry] = {
    "tar": Custom(_judge_tar),
    "unzip": Program(spec("-ltZvq", "-*"), _unzip),
    "zipinfo": Program(spec("-12lmsvhzt")),
}
