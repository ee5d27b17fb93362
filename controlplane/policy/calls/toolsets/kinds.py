"""What a tool does, in the few kinds that the gate tells apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ToolKind(StrEnum):
    HANDSHAKE = "handshake"
    NO_FILES = "talk"  # safe, and what looks like a path in it is none, but for the address of a file
    READ = "read"  # safe, needs a path to do anything
    SEARCH = "search"  # safe, the path is optional
    GLOB = "glob"  # safe, its patterns name files too
    WRITE = "write"  # sets the whole text of a file
    EDIT = "edit"  # changes a part of a file
    EDITOR = "editor"  # safe when its command is to look, else it changes a file
    DELETE = "delete"
    DELETE_TREE = "delete tree"  # a folder with all that is in it
    MOVE = "move"
    FOLDER = "folder"  # creates a folder
    PATCH = "patch"  # the files are named inside a text
    DOWNLOAD = "download"  # safe, unless it is told where to store what it gets
    FINISH = "finish"  # safe, unless it carries a command to run
    SHELL = "shell"  # safe or not by its command
    MONITOR = "monitor"  # a command that goes on in the background: never safe
    OPAQUE = "opaque"  # changes something that its input does not name
    EXTERNAL = "external"  # leaves the machine; a workspace may declare it safe


READING_KINDS = frozenset({ToolKind.NO_FILES, ToolKind.READ, ToolKind.SEARCH, ToolKind.GLOB})

# Safe or not by what their input holds; the first two are safe with an input that asks for nothing.
HARMLESS_WHEN_BARE = frozenset({ToolKind.FINISH, ToolKind.DOWNLOAD})
INPUT_DECIDES = HARMLESS_WHEN_BARE | {ToolKind.SHELL, ToolKind.EDITOR}

# The kinds whose class no workspace may lower: file tools, shells, and what hides its effect.
MUTATING_KINDS = (
    frozenset(ToolKind) - READING_KINDS - HARMLESS_WHEN_BARE - {ToolKind.HANDSHAKE, ToolKind.EXTERNAL}
)


@dataclass(frozen=True, slots=True)
class AgentTool:
    """One tool of an agent. Path and content keys are the same for all tools (see `fields`),
    because every recognised key counts, whatever the tool; commands and patches differ."""

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
    """The same tool under each of the blank-separated names."""
    return dict.fromkeys(names.split(), tool)


def merge(toolsets: Iterable[Toolset]) -> Toolset:
    """One table; a later toolset wins."""
    return {name: tool for toolset in toolsets for name, tool in toolset.items()}
