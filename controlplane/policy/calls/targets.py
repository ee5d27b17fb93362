"""What a call would touch, in the agent's own spelling: files written, files read, and what cannot be known.

Nothing is resolved here; `placing` makes canonical paths of the spellings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from controlplane.policy.calls import edit_hunks, input_fields
from controlplane.policy.calls.patch_targets import find_patch_targets
from controlplane.policy.calls.raw_targets import RawTargets, ToolInput
from controlplane.policy.calls.resolve_tool import ResolvedTool, classify_without_input, resolve_tool
from controlplane.policy.calls.shell_targets import find_shell_targets
from controlplane.policy.calls.toolsets.kinds import READING_KINDS, ToolKind
from controlplane.policy.model import Policy, Reason, ToolCall, ToolClass, Unknown
from controlplane.policy.paths.canonical import CanonicalPath, canonicalize, to_printable
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.paths.raw_path import RawPath, strip_trailing_slash

MAX_PATHS = 2000  # of one call: bounds the time that it may take

_TOO_MANY = f"The call names more than {MAX_PATHS} paths; make several calls of it."

_NO_WORLD = UnknownFilesystem()


@dataclass(frozen=True, slots=True)
class CallTargets:
    """What a call would do. `malformed` says why its input cannot be understood at all."""

    tool_class: ToolClass
    writes: tuple[RawPath, ...] = ()
    reads: tuple[RawPath, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    wildcard_names: tuple[RawPath, ...] = ()  # as in `Found`
    input_error: str | None = None
    input: Any = None  # what the tool gets, out of any wrapping


# A reader of inputs: what it finds, or why the input makes no sense.
Reader = Callable[[ToolInput], RawTargets | str]


def classify(call: ToolCall, policy: Policy) -> ToolClass:
    """`SAFE`, `DESTRUCTIVE` or `HANDSHAKE`; a shell by its command."""
    return find_targets(call, policy).tool_class


def find_targets(call: ToolCall, policy: Policy, filesystem: Filesystem = _NO_WORLD) -> CallTargets:
    """Class and effects of a call; a shell whose input cannot be understood is destructive."""
    resolved = resolve_tool(call)
    cls = classify_without_input(resolved, policy)
    found = _found(call, resolved, policy, filesystem)
    if (
        isinstance(found, RawTargets)
        and len(found.writes) + len(found.reads) + len(found.wildcard_names) > MAX_PATHS
    ):
        found = _TOO_MANY
    if isinstance(found, str):
        return CallTargets(cls or ToolClass.DESTRUCTIVE, input_error=found, input=resolved.input)
    if cls is None:
        cls = ToolClass.DESTRUCTIVE if found.writes or found.unknown else ToolClass.SAFE
    if cls is ToolClass.DESTRUCTIVE and _is_reader(resolved):
        # The workspace distrusts a reading tool: what it names may be what it changes.
        found = RawTargets([replace(named, op="write") for named in found.reads], [], [_not_known(resolved)])
    elif cls is ToolClass.SAFE and resolved.tool is None:
        found = RawTargets([], [replace(named, op="read") for named in found.writes], [])
    parts = tuple(found.writes), tuple(found.reads), tuple(found.unknown), tuple(found.wildcard_names)
    return CallTargets(cls, *parts, input=resolved.input)


def _is_reader(resolved: ResolvedTool) -> bool:
    return resolved.tool is not None and resolved.tool.kind in READING_KINDS


def _found(call: ToolCall, resolved: ResolvedTool, policy: Policy, world: Filesystem) -> RawTargets | str:
    data, tool = resolved.input, resolved.tool
    if not isinstance(resolved.name, str) or not resolved.name:
        return "The tool's name must be a text that is not empty."
    if isinstance(data, str) and tool is not None and tool.kind is ToolKind.PATCH:
        data = {tool.patch[0]: data}
    if not isinstance(data, dict):
        return "The tool's input must be a JSON object."
    if tool is None:
        return _strange(
            call, resolved, data, trusted=classify_without_input(resolved, policy) is ToolClass.SAFE
        )
    return READERS[tool.kind](ToolInput(call, tool, data, policy, world))


def _strange(call: ToolCall, resolved: ResolvedTool, data: dict[str, Any], *, trusted: bool) -> RawTargets:
    """A tool that no table knows may act on whatever reads like a path, and write every text it is given.
    Deeper in its input a text that no path is spelled like may be anything: a person is asked in any case,
    unless the workspace trusts the tool."""
    raws = list(input_fields.list_paths(data))
    known = {raw for raw in raws if isinstance(raw, str)}
    hidden = [raw for raw in dict.fromkeys(input_fields.list_nested_paths(data)) if raw not in known]
    unchecked = trusted or len(hidden) > MAX_PATHS  # so many are refused anyway
    raws += [raw for raw in hidden if unchecked or _may_be_path(raw, call)]
    told = _readings(data)
    writes = [RawPath(raw, call.cwd, **one) for raw in raws for one in told]
    return RawTargets(writes, [], [_not_known(resolved)])


def _may_be_path(text: str, call: ToolCall) -> bool:
    where = canonicalize(text, root=call.root, cwd=call.cwd, writing=True)
    return isinstance(where, CanonicalPath) or where.reason is Reason.OUTSIDE_WORKSPACE


def _not_known(resolved: ResolvedTool) -> Unknown:
    return Unknown(to_printable(str(resolved.name)), "the gate does not know all that this tool changes")


# --- one reader for each kind of tool ---------------------------------------------------------


def _talking(ask: ToolInput) -> RawTargets:
    """Whoever fetches the address of a file reads a file, and names it in a way that is refused."""
    return RawTargets(
        [], [RawPath(one, ask.call.cwd, op="read") for one in input_fields.list_file_urls(ask.data)]
    )


def _opaque(ask: ToolInput) -> RawTargets:
    why = "this tool changes more than its input says"
    writes = [RawPath(raw, ask.call.cwd) for raw in input_fields.list_paths(ask.data)]
    return RawTargets(writes, [], [Unknown(to_printable(ask.call.tool), why)])


def _reading(ask: ToolInput) -> RawTargets | str:
    reads = [RawPath(raw, ask.call.cwd, op="read") for raw in input_fields.list_paths(ask.data)]
    if (
        not reads
        and ask.tool.kind is ToolKind.READ
        and any(key in ask.data for key in input_fields.PATH_KEYS)
    ):
        return "A path must be a text that is not empty."
    return RawTargets([], reads)


def _globbing(ask: ToolInput) -> RawTargets | str:
    bases = list(input_fields.list_paths({key: value for key, value in ask.data.items() if key != "paths"}))
    found = RawTargets([], [RawPath(base, ask.call.cwd, op="read") for base in bases])
    for value in input_fields.get_all(ask.data, input_fields.PATTERN_KEYS):
        patterns = input_fields.to_text_list(value)
        if patterns is None:
            return "A pattern must be a text, or a list of texts."
        if len(patterns) * len(bases) > MAX_PATHS:
            return _TOO_MANY
        for pattern in patterns:
            folder = input_fields.literal_folder(pattern)
            if folder is None:
                shown = to_printable(pattern)
                return f"The pattern [{shown}] steps back behind a wildcard: begin at a plain folder."
            found.reads.extend(_below_bases(folder, bases, ask.call.cwd))
            for aim in input_fields.list_wildcard_names(pattern) if folder != pattern else ():
                found.wildcard_names.extend(_below_bases(aim, bases, ask.call.cwd))
    return found


def _below_bases(folder: str, bases: list[Any], cwd: str | None) -> Iterator[RawPath]:
    for base in bases or [""]:
        joined = f"{base}/{folder}" if base and folder[:1] not in {"/", "~"} else folder
        if joined:
            yield RawPath(joined, cwd, op="read")


def _editor(ask: ToolInput) -> RawTargets | str:
    """Where it is told to look and is given no text, it changes nothing."""
    looks = ask.data.get("command") == "view" and edit_hunks.list_interpretations(ask.data) == [()]
    return _reading(ask) if looks else _writing(ask)


def _writing(ask: ToolInput) -> RawTargets | str:
    raws = list(input_fields.list_paths(ask.data))
    whole = ask.tool.kind is ToolKind.WRITE
    found = RawTargets() if whole else _of_diff(ask)
    told = _whole_texts(ask.data) if whole else _readings(ask.data)
    found.writes[:0] = [RawPath(raw, ask.call.cwd, **one) for raw in raws for one in told]
    return found if found.writes else "The input names no path."


def _whole_texts(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"after": text, "is_full_text": True} for text in edit_hunks.list_full_texts(data)]


def _readings(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What a call would put into the files that it names, as fields of `Named`, once for each way to read
    its input."""
    told = [(*edit_hunks.join_sides(reading), reading) for reading in edit_hunks.list_interpretations(data)]
    return [{"before": before, "after": after, "replacements": reading} for before, after, reading in told]


def _of_diff(ask: ToolInput) -> RawTargets:
    """Some edits name their files in a unified diff, beside a path or without one."""
    diff = ask.data.get("diff")
    found = RawTargets()
    if isinstance(diff, str) and not edit_hunks.parse_search_replace_blocks(diff):
        found.writes = find_patch_targets([diff], ask.call.cwd).writes
    return found


def _removing(ask: ToolInput) -> RawTargets | str:
    tree = ask.tool.kind is ToolKind.DELETE_TREE
    writes = [
        RawPath(strip_trailing_slash(raw), ask.call.cwd, op="delete", recursive=tree)
        for raw in input_fields.list_paths(ask.data)
    ]
    return RawTargets(writes) if writes else "The input names no path."


def _moving(ask: ToolInput) -> RawTargets | str:
    """What is no destination is a source, so that a path under a third key is judged as well."""
    destinations = input_fields.get_all(ask.data, input_fields.DESTINATION_KEYS)
    rest = {key: value for key, value in ask.data.items() if key not in input_fields.DESTINATION_KEYS}
    sources = [*input_fields.get_all(rest, input_fields.ODD_SOURCE_KEYS), *input_fields.list_paths(rest)]
    if not destinations or not sources:
        return "A move names a source and a destination."
    writes = [RawPath(strip_trailing_slash(raw), ask.call.cwd, op="move") for raw in sources]
    return RawTargets(
        writes
        + [RawPath(strip_trailing_slash(raw), ask.call.cwd, is_move_destination=True) for raw in destinations]
    )


def _making_folder(ask: ToolInput) -> RawTargets | str:
    writes = [
        RawPath(strip_trailing_slash(raw), ask.call.cwd, op="folder")
        for raw in input_fields.list_paths(ask.data)
    ]
    return RawTargets(writes) if writes else "The input names no path."


def _downloading(ask: ToolInput) -> RawTargets:
    store, found = ask.data.get("download_path"), _talking(ask)
    if store is not None:
        found.writes.append(RawPath(store, ask.call.cwd))
    return found


def _patching(ask: ToolInput) -> RawTargets | str:
    given = input_fields.get_all(ask.data, ask.tool.patch)
    raws = list(input_fields.list_paths(ask.data))
    if not given and raws:
        return _writing(ask)
    if not given or any(not isinstance(text, str) or not text.strip() for text in given):
        return "A patch must be a text that is not empty."
    found = find_patch_targets(given, ask.call.cwd)
    found.writes.extend(RawPath(raw, ask.call.cwd) for raw in raws)
    return found


def _finishing(ask: ToolInput) -> RawTargets | str:
    """Closing words; some agents let a command to show the result come along with them."""
    return (
        RawTargets()
        if input_fields.get_first(ask.data, ask.tool.command) is None
        else find_shell_targets(ask)
    )


def _monitor(ask: ToolInput) -> RawTargets | str:
    """A command in the background, or a connection, which nobody can look into."""
    if input_fields.get_first(ask.data, ask.tool.command) is not None:
        return find_shell_targets(ask)
    return _opaque(ask)


READERS: dict[ToolKind, Reader] = {
    ToolKind.HANDSHAKE: _talking,
    ToolKind.NO_FILES: _talking,
    ToolKind.READ: _reading,
    ToolKind.SEARCH: _reading,
    ToolKind.GLOB: _globbing,
    ToolKind.WRITE: _writing,
    ToolKind.EDIT: _writing,
    ToolKind.EDITOR: _editor,
    ToolKind.DELETE: _removing,
    ToolKind.DELETE_TREE: _removing,
    ToolKind.MOVE: _moving,
    ToolKind.FOLDER: _making_folder,
    ToolKind.PATCH: _patching,
    ToolKind.DOWNLOAD: _downloading,
    ToolKind.FINISH: _finishing,
    ToolKind.SHELL: find_shell_targets,
    ToolKind.MONITOR: _monitor,
    ToolKind.OPAQUE: _opaque,
    ToolKind.EXTERNAL: _opaque,
}
