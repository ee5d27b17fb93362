"""Collect the names of a file that others can use: they are not renamed without a change for these.

Others are code in other files, callers that name their arguments, frameworks that read names (decorators,
routes, fixtures), and code that looks names up while it runs.
"""

from __future__ import annotations

from traces.mutation_class.forms import Exposure, LexicalScope, NormalNode
from traces.mutation_class.languages.grammar import Naming, NodePosition


class PublicNames:
    """What is known of the names of one file while its tree is walked."""

    def __init__(self, naming: Naming, path: str) -> None:
        self.rules = naming.public
        self.is_package = bool(self.rules.package.search(path))
        self.is_module = not self.rules.exports
        self.public: set[tuple[LexicalScope, str]] = set()
        self.uncertain: set[tuple[LexicalScope, str]] = set()
        self.quoted: set[str] = set()
        self.functions: dict[LexicalScope, str] = {}
        self._parameters: list[tuple[LexicalScope, str]] = []
        self._file_names: list[tuple[str, bool]] = []
        self._exported: set[str] = set()
        self._escaping: set[str] = set()

    def is_private_member(self, text: str, is_known: bool) -> bool:
        """Whether only this file can use a member: by its name, or as `is_known` by a modifier."""
        return is_known or self.rules.private.match(text) is not None

    def add_parameter(self, scope: LexicalScope, text: str, position: NodePosition) -> None:
        """Note a parameter of a function."""
        if position[0] not in self.rules.no_keywords:
            self._parameters.append((scope, text))

    def add_file_name(self, scope: LexicalScope, text: str, *, exported: bool, shared: bool) -> None:
        """Note a name of the file; `shared` ones were not imported."""
        is_private = self.rules.private.match(text) is not None
        if exported or (not self.rules.exports and not is_private and (shared or self.is_package)):
            self.public.add((scope, text))
        self._file_names.append((text, shared))

    def add_use(
        self, leaf: NormalNode, position: NodePosition, outer: NodePosition, scope: LexicalScope
    ) -> None:
        """Note where a name is used: called, passed on, or to read the names around it."""
        rules = self.rules
        if leaf.text in rules.module_syntax:
            self.is_module = True
        if leaf.text in rules.reflection:
            self.reflect(scope)
        called_at = outer if position[0] in rules.accesses else position
        if rules.callees and called_at not in rules.callees:
            self._escaping.add(leaf.text)

    def add_export(self, name: str) -> None:
        """Note a name that is exported elsewhere than where it is declared."""
        self._exported.add(name)

    def reflect(self, scope: LexicalScope | None) -> None:
        """Note that code in a scope reads names while it runs: its own, and those that it sees."""
        while scope is not None:
            scope.is_reflected = True
            scope = scope.parent

    def finish(self, file_scope: LexicalScope) -> None:
        """Add what only the complete file tells: exports elsewhere, functions that are passed on."""
        self.public |= {(file_scope, name) for name in self._exported}
        if not self.is_module:  # a script shares its names with all others of a page
            self.public |= {(file_scope, name) for name, shared in self._file_names if shared}
        for scope, name in self._parameters:
            if scope.parameters == Exposure.CERTAIN or name in scope.keyword_only:
                self.public.add((scope, name))
            elif scope.parameters == Exposure.POSSIBLE or self.functions.get(scope) in self._escaping:
                self.uncertain.add((scope, name))
