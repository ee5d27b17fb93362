"""A command with its syntax tree."""

from __future__ import annotations

from tree_sitter import Node

from controlplane.policy.shell.command_text import CommandText


class SyntaxTree(CommandText):
    """The text of a bash command and its tree-sitter tree."""

    def __init__(self, text: str, data: bytes, root: Node) -> None:
        super().__init__(text, data)
        self.root = root

    def node_text(self, node: Node) -> str:
        """Return the text of a node, as it is written in the command."""
        return self.slice(node.start_byte, node.end_byte)
