"""What a call would touch, in the agent's own spelling: files written, files read, and what cannot be known.

Nothing is resolved here; `placing` makes canonical paths of the spellings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from controlplane.policy.calls import edit_hunks, input_fields
from controlplane.policy.calls.patch_targets import of_patches
from controlplane.policy.calls.resolve_tool import Resolved, resolve, static_class
from controlplane.policy.calls.shell_targets import of_shell
from controlplane.policy.calls.toolsets.kinds import READING_KINDS, Kind
from controlplane.policy.model import Policy, Reason, ToolCall, ToolClass, Unknown
from controlplane.policy.paths.canonical import Canonical, canonical, shown
from controlplane.policy.paths.filesystem import NoWorld, World
from controlplane.policy.paths.raw_path import Ask, Found, Named, bare

MAX_PATHS = 2000  # of one call: bounds the time that it may take

_TOO_MANY = f"The call names more than {MAX_PATHS} paths; make several calls of it."

_NO_WORLD = NoWorld()


@dataclass(frozen=True, slots=True)
class Effects:
    """What a call would do. `malformed` says why its input cannot be understood at all."""

    tool_class: ToolClass
    writes: tuple[Named, ...] = ()
    reads: tuple[Named, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    aims: tuple[Named, ...] = ()  # as in `Found`
    malformed: str | None = None
    input: Any = None  # what the tool gets, out of any wrapping


# A reader of inputs: what it finds, or why the input makes no sense.
Reader = Callable[[Ask], Found | str]


def classify(call: ToolCall, policy: Policy) -> ToolClass:
    """`SAFE`, `DESTRUCTIVE` or `HANDSHAKE`; a shell by its command."""
    return effects(call, policy).tool_class


def effects(call: ToolCall, policy: Policy, world: World = _NO_WORLD) -> Effects:
    """Class and effects of a call; a shell whose input cannot be understood is destructive."""
    resolved = resolve(call)
    cls = static_class(resolved, policy)
    found = _found(call, resolved, policy, world)
    if isinstance(found, Found) and len(found.writes) + len(found.reads) + len(found.aims) > MAX_PATHS:
        found = _TOO_MANY
    if isinstance(found, str):
        return Effects(cls or ToolClass.DESTRUCTIVE, malformed=found, input=resolved.input)
    if cls is None:
        cls = ToolClass.DESTRUCTIVE if found.writes or found.unknown else ToolClass.SAFE
    if cls is ToolClass.DESTRUCTIVE and _is_reader(resolved):
        # The workspace distrusts a reading tool: what it names may be what it changes.
        found = Found([replace(named, op="write") for named in found.reads], [], [_not_known(resolved)])
    elif cls is ToolClass.SAFE and resolved.tool is None:
        found = Found([], [replace(named, op="read") for named in found.writes], [])
    parts = tuple(found.writes), tuple(found.reads), tuple(found.unknown), tuple(found.aims)
    return Effects(cls, *parts, input=resolved.input)


def _is_reader(resolved: Resolved) -> bool:
    return resolved.tool is not None and resolved.tool.kind in READING_KINDS


def _found(call: ToolCall, resolved: Resolved, policy: Policy, world: World) -> Found | str:
    data, tool = resolved.input, resolved.tool
    if not isinstance(resolved.name, str) or not resolved.name:
        return "The tool's name must be a text that is not empty."
    if isinstance(data, str) and tool is not None and tool.kind is Kind.PATCH:
        data = {tool.patch[0]: data}
    if not isinstance(data, dict):
        return "The tool's input must be a JSON object."
    if tool is None:
        return _strange(call, resolved, data, trusted=static_class(resolved, policy) is ToolClass.SAFE)
    return READERS[tool.kind](Ask(call, tool, data, policy, world))


def _strange(call: ToolCall, resolved: Resolved, data: dict[str, Any], *, trusted: bool) -> Found:
    """A tool that no table knows may act on whatever reads like a path, and write every text it is given.
    Deeper in its input a text that no path is spelled like may be anything: a person is asked in any case,
    unless the workspace trusts the tool."""
    raws = list(input_fields.named_paths(data))
    known = {raw for raw in raws if isinstance(raw, str)}
    hidden = [raw for raw in dict.fromkeys(input_fields.hidden_paths(data)) if raw not in known]
    unchecked = trusted or len(hidden) > MAX_PATHS  # so many are refused anyway
    raws += [raw for raw in hidden if unchecked or _may_be_path(raw, call)]
    told = _readings(data)
    writes = [Named(raw, call.cwd, **one) for raw in raws for one in told]
    return Found(writes, [], [_not_known(resolved)])


def _may_be_path(text: str, call: ToolCall) -> bool:
    where = canonical(text, root=call.root, cwd=call.cwd, writing=True)
    return isinstance(where, Canonical) or where.reason is Reason.OUTSIDE_WORKSPACE


def _not_known(resolved: Resolved) -> Unknown:
    return Unknown(shown(str(resolved.name)), "the gate does not know all that this tool changes")


# --- one reader for each kind of tool ---------------------------------------------------------


def _talking(ask: Ask) -> Found:
    """Whoever fetches the address of a file reads a file, and names it in a way that is refused."""
    return Found([], [Named(one, ask.call.cwd, op="read") for one in input_fields.addresses(ask.data)])


def _opaque(ask: Ask) -> Found:
    why = "this tool changes more than its input says"
    writes = [Named(raw, ask.call.cwd) for raw in input_fields.named_paths(ask.data)]
    return Found(writes, [], [Unknown(shown(ask.call.tool), why)])


def _reading(ask: Ask) -> Found | str:
    reads = [Named(raw, ask.call.cwd, op="read") for raw in input_fields.named_paths(ask.data)]
    if not reads and ask.tool.kind is Kind.READ and any(key in ask.data for key in input_fields.PATH_KEYS):
        return "A path must be a text that is not empty."
    return Found([], reads)


def _globbing(ask: Ask) -> Found | str:
    bases = list(input_fields.named_paths({key: value for key, value in ask.data.items() if key != "paths"}))
    found = Found([], [Named(base, ask.call.cwd, op="read") for base in bases])
    for value in input_fields.every(ask.data, input_fields.PATTERN_KEYS):
        patterns = input_fields.texts(value)
        if patterns is None:
            return "A pattern must be a text, or a list of texts."
        if len(patterns) * len(bases) > MAX_PATHS:
            return _TOO_MANY
        for pattern in patterns:
            folder = input_fields.literal_folder(pattern)
            if folder is None:
                return (
                    f"The pattern [{shown(pattern)}] steps back behind a wildcard: begin at a plain folder."
                )
            found.reads.extend(_below_bases(folder, bases, ask.call.cwd))
            for aim in input_fields.aims_of(pattern) if folder != pattern else ():
                found.aims.extend(_below_bases(aim, bases, ask.call.cwd))
    return found


def _below_bases(folder: str, bases: list[Any], cwd: str | None) -> Iterator[Named]:
    for base in bases or [""]:
        joined = f"{base}/{folder}" if base and folder[:1] not in {"/", "~"} else folder
        if joined:
            yield Named(joined, cwd, op="read")


def _editor(ask: Ask) -> Found | str:
    """Where it is told to look and is given no text, it changes nothing."""
    looks = ask.data.get("command") == "view" and edit_hunks.readings(ask.data) == [()]
    return _reading(ask) if looks else _writing(ask)


def _writing(ask: Ask) -> Found | str:
    raws = list(input_fields.named_paths(ask.data))
    whole = ask.tool.kind is Kind.WRITE
    found = Found() if whole else _of_diff(ask)
    told = _whole_texts(ask.data) if whole else _readings(ask.data)
    found.writes[:0] = [Named(raw, ask.call.cwd, **one) for raw in raws for one in told]
    return found if found.writes else "The input names no path."


def _whole_texts(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"after": text, "whole": True} for text in edit_hunks.whole_texts(data)]


def _readings(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What a call would put into the files that it names, as fields of `Named`, once for each way to read
    its input."""
    told = [(*edit_hunks.joined(reading), reading) for reading in edit_hunks.readings(data)]
    return [{"before": before, "after": after, "pieces": reading} for before, after, reading in told]


def _of_diff(ask: Ask) -> Found:
    """Some edits name their files in a unified diff, beside a path or without one."""
    diff = ask.data.get("diff")
    found = Found()
    if isinstance(diff, str) and not edit_hunks.of_blocks(diff):
        found.writes = of_patches([diff], ask.call.cwd).writes
    return found


def _removing(ask: Ask) -> Found | str:
    tree = ask.tool.kind is Kind.DELETE_TREE
    writes = [
        Named(bare(raw), ask.call.cwd, op="delete", recursive=tree)
        for raw in input_fields.named_paths(ask.data)
    ]
    return Found(writes) if writes else "The input names no path."


def _moving(ask: Ask) -> Found | str:
    """What is no destination is a source, so that a path under a third key is judged as well."""
    destinations = input_fields.every(ask.data, input_fields.DESTINATION_KEYS)
    rest = {key: value for key, value in ask.data.items() if key not in input_fields.DESTINATION_KEYS}
    sources = [*input_fields.every(rest, input_fields.ODD_SOURCE_KEYS), *input_fields.named_paths(rest)]
    if not destinations or not sources:
        return "A move names a source and a destination."
    writes = [Named(bare(raw), ask.call.cwd, op="move") for raw in sources]
    return Found(writes + [Named(bare(raw), ask.call.cwd, arrives=True) for raw in destinations])


def _making_folder(ask: Ask) -> Found | str:
    writes = [Named(bare(raw), ask.call.cwd, op="folder") for raw in input_fields.named_paths(ask.data)]
    return Found(writes) if writes else "The input names no path."


def _downloading(ask: Ask) -> Found:
    store, found = ask.data.get("download_path"), _talking(ask)
    if store is not None:
        found.writes.append(Named(store, ask.call.cwd))
    return found


def _patching(ask: Ask) -> Found | str:
    given = input_fields.every(ask.data, ask.tool.patch)
    raws = list(input_fields.named_paths(ask.data))
    if not given and raws:
        return _writing(ask)
    if not given or any(not isinstance(text, str) or not text.strip() for text in given):
        return "A patch must be a text that is not empty."
    found = of_patches(given, ask.call.cwd)
    found.writes.extend(Named(raw, ask.call.cwd) for raw in raws)
    return found


def _finishing(ask: Ask) -> Found | str:
    """Closing words; some agents let a command to show the result come along with them."""
    return Found() if input_fields.first(ask.data, ask.tool.command) is None else of_shell(ask)


def _monitor(ask: Ask) -> Found | str:
    """A command in the background, or a connection, which nobody can look into."""
    if input_fields.first(ask.data, ask.tool.command) is not None:
        return of_shell(ask)
    return _opaque(ask)


READERS: dict[Kind, Reader] = {
    Kind.HANDSHAKE: _talking,
    Kind.TALK: _talking,
    Kind.READ: _reading,
    Kind.SEARCH: _reading,
    Kind.GLOB: _globbing,
    Kind.WRITE: _writing,
    Kind.EDIT: _writing,
    Kind.EDITOR: _editor,
    Kind.DELETE: _removing,
    Kind.DELETE_TREE: _removing,
    Kind.MOVE: _moving,
    Kind.FOLDER: _making_folder,
    Kind.PATCH: _patching,
    Kind.DOWNLOAD: _downloading,
    Kind.FINISH: _finishing,
    Kind.SHELL: of_shell,
    Kind.MONITOR: _monitor,
    Kind.OPAQUE: _opaque,
    Kind.EXTERNAL: _opaque,
}
