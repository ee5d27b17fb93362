"""`cp`, `mv`, `ln` and `install`: where a copy ends up depends on what is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from controlplane.policy.shell.command import Call, Program
from controlplane.policy.shell.lexical_path import is_inside
from controlplane.policy.shell.options import Parsed, spec
from controlplane.policy.shell.programs.mkdir import make_folder, make_parents
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.word import Word

DIRECTORY = ("-t", "--target-directory")
EXACT = ("-T", "--no-target-directory")
RECURSIVE = ("-r", "-R", "-a", "--recursive", "--archive")
KEEPS_LINKS = (*RECURSIVE, "-d", "-P", "--no-dereference")


@dataclass(frozen=True, slots=True)
class Route:
    """Sources and where they go; `into` when the destination is a folder for certain."""

    sources: tuple[Word, ...]
    destination: Word
    into: bool
    exact: bool
    op: str


def route(call: Call, parsed: Parsed, op: str = "write") -> Route:
    """Read `SOURCE… DESTINATION`, `-t FOLDER SOURCE…` or `-T SOURCE DESTINATION`."""
    given = parsed.values(*DIRECTORY)
    if given:
        return Route(parsed.operands, given[-1], into=True, exact=False, op=op)
    if len(parsed.operands) < 2:
        raise UnclearError("the destination is missing", call.span)
    *sources, destination = parsed.operands
    last = (destination.value or "").rpartition("/")[2]
    into = len(sources) > 1 or last in ("", ".", "..")
    return Route(tuple(sources), destination, into, parsed.has(*EXACT), op)


def arrive(call: Call, way: Route, source: Word, *, recursive: bool, links: bool) -> None:
    """Report where one source ends up: all the places that are possible."""
    name = _base_name(source)
    if way.exact or (not way.into and not _may_be_folder(call, way.destination)):
        _put(call, way, recursive=recursive, links=links)
        return
    if name == "":  # `cp -r src/. there` fills the destination itself
        _put(call, way, recursive=True, links=links)
        return
    if not way.into and not _is_folder(call, way.destination):
        _put(call, way, recursive=recursive, links=links)
    _put(call, way, below=name, recursive=recursive, links=links)


def _put(call: Call, way: Route, *, below: str = "", recursive: bool, links: bool) -> None:
    """What arrives at a place; a tree that is copied writes through the links that lie there already."""
    call.write(way.destination, way.op, below=below, recursive=recursive, links=links)
    if recursive and way.op == "write" and call.scene.on_disk:
        span = (way.destination.start, way.destination.end)
        for path in call.places(way.destination, below=below):
            for link in call.scene.links_below(path, span):
                call.scene.add_write(link, "write", span)


def _base_name(source: Word) -> str:
    """The name under which a source arrives in a folder, "" for `.` and `..`."""
    if source.value is None or source.wild:
        raise UnclearError("what is copied is known only when the command runs", (source.start, source.end))
    name = source.value.rstrip("/").rpartition("/")[2]
    return "" if name in (".", "..") else name


def _is_folder(call: Call, word: Word) -> bool:
    return all(call.scene.is_folder(path) for path in call.places(word))


def _may_be_folder(call: Call, word: Word) -> bool:
    return any(call.scene.may_be_folder(path) for path in call.places(word))


def _made(call: Call, word: Word) -> None:
    """What arrived may be a folder, so a later copy may land inside it."""
    call.scene.folders_made.update(path.key for path in call.places(word))


def _cp(call: Call, parsed: Parsed) -> None:
    way = route(call, parsed)
    copies_folders = parsed.has(*RECURSIVE)
    for source in way.sources:
        recursive = copies_folders and _may_be_folder(call, source)
        call.read(source, recursive=recursive)
        links = parsed.has(*KEEPS_LINKS)
        arrive(call, way, source, recursive=recursive, links=links)
    if copies_folders:
        _made(call, way.destination)


def _mv(call: Call, parsed: Parsed) -> None:
    way = route(call, parsed, "move")
    for source in way.sources:
        move(call, way, source)


def move(call: Call, way: Route, source: Word) -> None:
    """Both ends of a move; what is moved may be a folder or a link."""
    recursive = _may_be_folder(call, source)
    arrive(call, way, source, recursive=recursive, links=True)
    call.write(source, "move", recursive=recursive)
    if recursive:
        _made(call, way.destination)


def _ln(call: Call, parsed: Parsed) -> None:
    if len(parsed.operands) == 1 and not parsed.has(*DIRECTORY):
        here = Word(".", ".", *call.span)
        way = Route(parsed.operands, here, into=True, exact=False, op="link")
    else:
        way = route(call, parsed, "link")
    for source in way.sources:
        if parsed.has("-s", "--symbolic"):
            _symbolic(call, way, source)
        else:
            call.write(source, "link")  # a second name for the same bytes: whoever writes one writes both
        arrive(call, way, source, recursive=False, links=True)
    _made(call, way.destination)


def _symbolic(call: Call, way: Route, source: Word) -> None:
    """What a symbolic link leads to.

    It is written once somebody writes through the link. Inside a workspace on disk that will be seen
    when it happens; elsewhere nobody can follow the link later, so it counts now.
    """
    folder = way.destination.value or ""
    if not way.into and not _is_folder(call, way.destination):
        folder = folder.rpartition("/")[0]
    target = source
    if source.value and folder and not source.value.startswith("/") and not source.tilde:
        target = replace(source, value=f"{folder}/{source.value}", prefix=f"{folder}/{source.prefix}")
        target = replace(target, tilde=way.destination.tilde)
    if call.scene.on_disk and all(is_inside(path.key) for path in call.places(target)):
        call.read(target)
    else:
        call.write(target, "link")


def _install(call: Call, parsed: Parsed) -> None:
    if parsed.has("-d", "--directory"):
        for word in parsed.operands:
            make_folder(call, word, parents=True)
        return
    way = route(call, parsed)
    if parsed.has("-D"):
        make_parents(call, way.destination)
    for source in way.sources:
        call.read(source)
        arrive(call, way, source, recursive=False, links=False)


COPIERS: Mapping[str, Program] = {
    "cp": Program(
        spec(
            "-adfinprRLPHTuvx -t= --archive --force --interactive --no-clobber --no-dereference "
            "--dereference --preserve? --recursive --update? --verbose --target-directory= "
            "--no-target-directory --one-file-system --reflink? --sparse="
        ),
        _cp,
    ),
    "mv": Program(
        spec(
            "-finTuv -t= --force --interactive --no-clobber --update? --verbose --target-directory= "
            "--no-target-directory"
        ),
        _mv,
    ),
    "ln": Program(
        spec(
            "-sfinLPTv -t= --symbolic --force --interactive --no-dereference --logical --physical --verbose "
            "--target-directory= --no-target-directory"
        ),
        _ln,
    ),
    "install": Program(
        spec(
            "-cCdDpTv -m= -o= -g= -t= --directory --mode= --owner= --group= --preserve-timestamps "
            "--target-directory= --no-target-directory --verbose --compare"
        ),
        _install,
    ),
}
