"""What a tool does, in the few kinds that the gate tells apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    HANDSHAKE = "handshake"
    TALK = "talk"  # safe, and what looks like a path in it is none, but for the address of a file
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


READING_KINDS = frozenset({Kind.TALK, Kind.READ, Kind.SEARCH, Kind.GLOB})

# Safe or not by what their input holds; the first two are safe with an input that asks for nothing.
HARMLESS_WHEN_BARE = frozenset({Kind.FINISH, Kind.DOWNLOAD})
INPUT_DECIDES = HARMLESS_WHEN_BARE | {Kind.SHELL, Kind.EDITOR}

# The kinds whose class no workspace may lower: file tools, shells, and what hides its effect.
MUTATING_KINDS = frozenset(Kind) - READING_KINDS - HARMLESS_WHEN_BARE - {Kind.HANDSHAKE, Kind.EXTERNAL}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of an agent. Path and content keys are the same for all tools (see `fields`),
    because every recognised key counts, whatever the tool; commands and patches differ."""

    kind: Kind
    command: tuple[str, ...] = ("command",)
    patch: tuple[str, ...] = ("patch", "patchText", "input", "command", "diff")
    powershell: bool = False  # the command is PowerShell, not a POSIX shell


TALK = Tool(Kind.TALK)
READ = Tool(Kind.READ)
SEARCH = Tool(Kind.SEARCH)
GLOB = Tool(Kind.GLOB)
WRITE = Tool(Kind.WRITE)
EDIT = Tool(Kind.EDIT)
EDITOR = Tool(Kind.EDITOR)
DELETE = Tool(Kind.DELETE)
DELETE_TREE = Tool(Kind.DELETE_TREE)
MOVE = Tool(Kind.MOVE)
FOLDER = Tool(Kind.FOLDER)
PATCH = Tool(Kind.PATCH)
DOWNLOAD = Tool(Kind.DOWNLOAD)
FINISH = Tool(Kind.FINISH)
SHELL = Tool(Kind.SHELL)
MONITOR = Tool(Kind.MONITOR)
OPAQUE = Tool(Kind.OPAQUE)
EXTERNAL = Tool(Kind.EXTERNAL)
HANDSHAKE = Tool(Kind.HANDSHAKE)

Toolset = dict[str, Tool]


def tools(tool: Tool, names: str) -> Toolset:
    """The same tool under each of the blank-separated names."""
    return dict.fromkeys(names.split(), tool)


def merged(toolsets: Iterable[Toolset]) -> Toolset:
    """One table; a later toolset wins."""
    return {name: tool for toolset in toolsets for name, tool in toolset.items()}
