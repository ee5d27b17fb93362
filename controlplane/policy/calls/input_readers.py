"""Read the input of each kind of tool: which paths it names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from controlplane.policy.calls import edit_hunks, input_fields
from controlplane.policy.calls.patch_targets import find_patch_targets
from controlplane.policy.calls.raw_targets import MAX_PATHS, TOO_MANY_PATHS, RawTargets, ToolInput
from controlplane.policy.calls.resolve_tool import ResolvedTool
from controlplane.policy.calls.shell_targets import find_shell_targets
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import Reason, ToolCall, Unknown
from controlplane.policy.paths.canonical import CanonicalPath, canonicalize, to_printable
from controlplane.policy.paths.raw_path import PatternUse, RawPath, RawPattern, strip_trailing_slash

_NO_PATH = "The input names no path."

# Reads the input of one kind of tool. Returns its targets, or why the input makes no sense.
InputReader = Callable[[ToolInput], RawTargets | str]


def read_unknown_tool(
    call: ToolCall, resolved: ResolvedTool, data: dict[str, Any], *, is_trusted: bool
) -> RawTargets:
    """Read the input of a tool that no table knows.

    It may act on whatever reads like a path, and write every text it is given. Deeper in the input, only
    text that is spelled like a path counts: a person is asked about such a tool in any case, unless the
    workspace trusts it; then everything counts.
    """
    raws = list(input_fields.list_paths(data))
    paths = {raw for raw in raws if isinstance(raw, str)}
    nested = [raw for raw in dict.fromkeys(input_fields.list_nested_paths(data)) if raw not in paths]
    takes_all = is_trusted or len(nested) > MAX_PATHS  # so many are refused anyway
    raws += [raw for raw in nested if takes_all or _may_be_path(raw, call)]
    edits = _read_edits(data)
    writes = [RawPath(raw, call.cwd, **edit) for raw in raws for edit in edits]
    return RawTargets(writes, [], [describe_unknown_tool(resolved)])


def _may_be_path(text: str, call: ToolCall) -> bool:
    canonical = canonicalize(text, root=call.root, cwd=call.cwd, writing=True)
    return isinstance(canonical, CanonicalPath) or canonical.reason is Reason.OUTSIDE_WORKSPACE


def describe_unknown_tool(resolved: ResolvedTool) -> Unknown:
    return Unknown(to_printable(str(resolved.name)), "the gate does not know all that this tool changes")


# --- tools that the tables know ----------------------------------------------------------------


def _read_file_urls(tool_input: ToolInput) -> RawTargets:
    """Tools that touch no file, but for a `file:` URL that they fetch. Its spelling is no canonical path,
    so the read is refused."""
    urls = input_fields.list_file_urls(tool_input.data)
    return RawTargets([], [RawPath(url, tool_input.call.cwd, op="read") for url in urls])


def _read_opaque(tool_input: ToolInput) -> RawTargets:
    reason = "this tool changes more than its input says"
    writes = [RawPath(raw, tool_input.call.cwd) for raw in input_fields.list_paths(tool_input.data)]
    return RawTargets(writes, [], [Unknown(to_printable(tool_input.call.tool), reason)])


def _read_reading_tool(tool_input: ToolInput) -> RawTargets | str:
    data = tool_input.data
    reads = [RawPath(raw, tool_input.call.cwd, op="read") for raw in input_fields.list_paths(data)]
    needs_path = tool_input.tool.kind is ToolKind.READ
    if not reads and needs_path and any(key in data for key in input_fields.PATH_KEYS):
        return "A path must be a non-empty string."
    return RawTargets([], reads, patterns=list(_list_filters(tool_input)))


def _list_filters(tool_input: ToolInput) -> Iterator[RawPattern]:
    """Yield what the filters of a search stand for, below each folder that it names."""
    data, cwd = tool_input.data, tool_input.call.cwd
    bases = [base for base in input_fields.list_paths(data) if isinstance(base, str) and base]
    for value in input_fields.get_all(data, input_fields.FILTER_KEYS):
        for pattern in input_fields.to_text_list(value) or ():
            for text in pattern.split(",") if "{" not in pattern else [pattern]:
                name = text.strip().lstrip("/")
                if name and not name.startswith("!"):
                    below = name if name.startswith("**/") else f"**/{name}"
                    yield from (
                        RawPattern(f"{base}/{below}", cwd, PatternUse.FILTER) for base in bases or ["."]
                    )


def _read_glob(tool_input: ToolInput) -> RawTargets | str:
    data, cwd = tool_input.data, tool_input.call.cwd
    # `paths` holds patterns here (PATTERN_KEYS).
    bases = list(input_fields.list_paths({key: value for key, value in data.items() if key != "paths"}))
    targets = RawTargets([], [RawPath(base, cwd, op="read") for base in bases])
    for value in input_fields.get_all(data, input_fields.PATTERN_KEYS):
        patterns = input_fields.to_text_list(value)
        if patterns is None:
            return "A pattern must be a string or a list of strings."
        if len(patterns) * len(bases) > MAX_PATHS:
            return TOO_MANY_PATHS
        for pattern in patterns:
            directory = input_fields.find_literal_directory(pattern)
            if directory is None:
                printable = to_printable(pattern)
                return (
                    f"The pattern [{printable}] goes up (`..`) or to another root after a wildcard."
                    " Begin at a folder without wildcards."
                )
            targets.reads.extend(_join_bases(directory, bases, cwd))
            if directory != pattern:
                for name in input_fields.list_wildcard_names(pattern):
                    targets.wildcard_names.extend(_join_bases(name, bases, cwd))
                joined = _join_bases(pattern, bases, cwd)
                targets.patterns.extend(RawPattern(each.raw, cwd, PatternUse.FILTER) for each in joined)
    return targets


def _join_bases(path: str, bases: list[Any], cwd: str | None) -> Iterator[RawPath]:
    for base in bases or [""]:
        joined = f"{base}/{path}" if base and path[:1] not in {"/", "~"} else path
        if joined:
            yield RawPath(joined, cwd, op="read")


def _read_editor(tool_input: ToolInput) -> RawTargets | str:
    """An editor whose command is `view` and that is given no text changes nothing."""
    is_view = tool_input.data.get("command") == "view"
    if is_view and edit_hunks.list_interpretations(tool_input.data) == [()]:
        return _read_reading_tool(tool_input)
    return _read_writing_tool(tool_input)


def _read_writing_tool(tool_input: ToolInput) -> RawTargets | str:
    data = tool_input.data
    raws = list(input_fields.list_paths(data))
    if tool_input.tool.kind is ToolKind.WRITE:
        targets, edits = RawTargets(), _read_full_texts(data)
    else:
        targets, edits = _read_diff(tool_input), _read_edits(data)
    targets.writes[:0] = [RawPath(raw, tool_input.call.cwd, **edit) for raw in raws for edit in edits]
    return targets if targets.writes else _NO_PATH


def _read_full_texts(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"after": text, "is_full_text": True} for text in edit_hunks.list_full_texts(data)]


def _read_edits(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a call would put into the files that it names, as fields of `RawPath`: one item for each
    way to read its input."""
    edits = []
    for interpretation in edit_hunks.list_interpretations(data):
        before, after = edit_hunks.join_sides(interpretation)
        edits.append({"before": before, "after": after, "replacements": interpretation})
    return edits


def _read_diff(tool_input: ToolInput) -> RawTargets:
    """Some edits name their files in a unified diff, next to a path or without one."""
    diff = tool_input.data.get("diff")
    targets = RawTargets()
    if isinstance(diff, str) and not edit_hunks.parse_search_replace_blocks(diff):
        targets.writes = find_patch_targets([diff], tool_input.call.cwd).writes
    return targets


def _read_delete(tool_input: ToolInput) -> RawTargets | str:
    recursive = tool_input.tool.kind is ToolKind.DELETE_TREE
    writes = [
        RawPath(strip_trailing_slash(raw), tool_input.call.cwd, op="delete", recursive=recursive)
        for raw in input_fields.list_paths(tool_input.data)
    ]
    return RawTargets(writes) if writes else _NO_PATH


def _read_move(tool_input: ToolInput) -> RawTargets | str:
    """What is no destination is a source, so that a path under a third key is checked as well."""
    data, cwd = tool_input.data, tool_input.call.cwd
    destinations = input_fields.get_all(data, input_fields.DESTINATION_KEYS)
    rest = {key: value for key, value in data.items() if key not in input_fields.DESTINATION_KEYS}
    sources = [*input_fields.get_all(rest, input_fields.ODD_SOURCE_KEYS), *input_fields.list_paths(rest)]
    if not destinations or not sources:
        return "A move names a source and a destination."
    writes = [RawPath(strip_trailing_slash(raw), cwd, op="move") for raw in sources]
    writes += [RawPath(strip_trailing_slash(raw), cwd, is_move_destination=True) for raw in destinations]
    return RawTargets(writes)


def _read_make_directory(tool_input: ToolInput) -> RawTargets | str:
    writes = [
        RawPath(strip_trailing_slash(raw), tool_input.call.cwd, op="folder")
        for raw in input_fields.list_paths(tool_input.data)
    ]
    return RawTargets(writes) if writes else _NO_PATH


def _read_download(tool_input: ToolInput) -> RawTargets:
    targets = _read_file_urls(tool_input)
    destination = tool_input.data.get("download_path")
    if destination is not None:
        targets.writes.append(RawPath(destination, tool_input.call.cwd))
    return targets


def _read_patch(tool_input: ToolInput) -> RawTargets | str:
    patches = input_fields.get_all(tool_input.data, tool_input.tool.patch)
    raws = list(input_fields.list_paths(tool_input.data))
    if not patches and raws:
        return _read_writing_tool(tool_input)
    if not patches or any(not isinstance(text, str) or not text.strip() for text in patches):
        return "A patch must be a non-empty string."
    targets = find_patch_targets(patches, tool_input.call.cwd)
    targets.writes.extend(RawPath(raw, tool_input.call.cwd) for raw in raws)
    return targets


def _read_finish(tool_input: ToolInput) -> RawTargets | str:
    """Closing words; some agents send a command with them that shows the result."""
    if input_fields.get_first(tool_input.data, tool_input.tool.command) is None:
        return RawTargets()
    return find_shell_targets(tool_input)


def _read_monitor(tool_input: ToolInput) -> RawTargets | str:
    """A command in the background or, without one, a connection that nobody can look into."""
    if input_fields.get_first(tool_input.data, tool_input.tool.command) is not None:
        return find_shell_targets(tool_input)
    return _read_opaque(tool_input)


INPUT_READERS: dict[ToolKind, InputReader] = {
    ToolKind.HANDSHAKE: _read_file_urls,
    ToolKind.NO_FILES: _read_file_urls,
    ToolKind.READ: _read_reading_tool,
    ToolKind.SEARCH: _read_reading_tool,
    ToolKind.GLOB: _read_glob,
    ToolKind.WRITE: _read_writing_tool,
    ToolKind.EDIT: _read_writing_tool,
    ToolKind.EDITOR: _read_editor,
    ToolKind.DELETE: _read_delete,
    ToolKind.DELETE_TREE: _read_delete,
    ToolKind.MOVE: _read_move,
    ToolKind.FOLDER: _read_make_directory,
    ToolKind.PATCH: _read_patch,
    ToolKind.DOWNLOAD: _read_download,
    ToolKind.FINISH: _read_finish,
    ToolKind.SHELL: find_shell_targets,
    ToolKind.MONITOR: _read_monitor,
    ToolKind.OPAQUE: _read_opaque,
    ToolKind.EXTERNAL: _read_opaque,
}
