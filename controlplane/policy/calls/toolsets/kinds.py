"""What a tool of an agent does, in the few kinds that the gate tells apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ToolKind(StrEnum):
    HANDSHAKE = "handshake"
    NO_FILES = "no files"  # safe; what looks like a path in its input is none, but for a `file:` URL
    READ = "read"  # safe, needs a path to do anything
    SEARCH = "search"  # safe, the path is optional
    GLOB = "glob"  # safe, its patterns name files too
    WRITE = "write"  # sets the whole text of a file
    EDIT = "edit"  # changes a part of a file
    EDITOR = "editor"  # safe when its command is `view`, else it changes a file
    DELETE = "delete"
    DELETE_TREE = "delete tree"  # a directory with all that is in it
    MOVE = "move"
    FOLDER = "folder"  # creates a directory
    PATCH = "patch"  # the files are named inside a text
    DOWNLOAD = "download"  # safe, unless its input says where to store the file
    FINISH = "finish"  # safe, unless it holds a command to run
    SHELL = "shell"  # safe or not by its command
    MONITOR = "monitor"  # a command that keeps running in the background: never safe
    OPAQUE = "opaque"  # changes something that its input does not name
    EXTERNAL = "external"  # leaves the machine; a workspace may declare it safe


READING_KINDS = frozenset({ToolKind.NO_FILES, ToolKind.READ, ToolKind.SEARCH, ToolKind.GLOB})

# The input decides whether they are safe; the first two are with an input that requests nothing.
HARMLESS_WHEN_BARE = frozenset({ToolKind.FINISH, ToolKind.DOWNLOAD})
INPUT_DECIDES = HARMLESS_WHEN_BARE | {ToolKind.SHELL, ToolKind.EDITOR}

# The kinds that no workspace may declare safe: file tools, shells, and tools that hide what they change.
MUTATING_KINDS = (
    frozenset(ToolKind) - READING_KINDS - HARMLESS_WHEN_BARE - {ToolKind.HANDSHAKE, ToolKind.EXTERNAL}
)


@dataclass(frozen=True, slots=True)
class AgentTool:
    """One tool of an agent, by its kind and the keys of its command or patch.

    Path and content keys are the same for all tools (see `input_fields`): every known key counts,
    whatever the tool.
    """

    kind: ToolKind
    command: tuple[str, ...] = ("command",)
    patch: tuple[str, ...] = ("patch", "patchText", "input", "command", "diff")
    powershell: bool = False  # the command is PowerShell, not a POSIX shell


NO_FILES = AgentTool(ToolKind.NO_FILES)
READ = AgentTool(ToolKind.READ)
SEARCH = AgentTool(ToolKind.SEARCH)
GLOB = AgentTool(ToolKind.GLOB)
WRITE = AgentTool(ToolKind.WRITE)
EDIT = AgentTool(ToolKind.EDIT)
EDITOR = AgentTool(ToolKind.EDITOR)
DELETE = AgentTool(ToolKind.DELETE)
DELETE_TREE = AgentTool(ToolKind.DELETE_TREE)
MOVE = AgentTool(ToolKind.MOVE)
FOLDER = AgentTool(ToolKind.FOLDER)
PATCH = AgentTool(ToolKind.PATCH)
DOWNLOAD = AgentTool(ToolKind.DOWNLOAD)
FINISH = AgentTool(ToolKind.FINISH)
SHELL = AgentTool(ToolKind.SHELL)
MONITOR = AgentTool(ToolKind.MONITOR)
OPAQUE = AgentTool(ToolKind.OPAQUE)
EXTERNAL = AgentTool(ToolKind.EXTERNAL)
HANDSHAKE = AgentTool(ToolKind.HANDSHAKE)

Toolset = dict[str, AgentTool]


def tools(tool: AgentTool, names: str) -> Toolset:
    """Return a table with the same tool under each of the blank-separated names."""
    return dict.fromkeys(names.split(), tool)


def merge(toolsets: Iterable[Toolset]) -> Toolset:
    """Return one table; a later toolset wins."""
    return {name: tool for toolset in toolsets for name, tool in toolset.items()}
