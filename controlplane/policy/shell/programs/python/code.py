"""Python code in a command (`python3 -c '…'`) that only computes, on standard input and files that it names.

The syntax tree is compared with a list: a few modules with a few of their names, a few builtins, methods of
plain values. Whatever is not on it may run code or touch other files, and is unclear.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.table.load import load_table

MAX_CODE = 8_000  # characters
MAX_TREE = 4_000  # nodes

NODES = (
    ast.Module, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If,
    ast.With, ast.withitem, ast.Try, ast.ExceptHandler, ast.Import, ast.ImportFrom, ast.alias,
    ast.FunctionDef, ast.Return, ast.Lambda, ast.arguments, ast.arg, ast.Pass, ast.Break,
    ast.Continue, ast.Raise, ast.Assert, ast.Delete, ast.Call, ast.keyword, ast.Name, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Starred, ast.Constant, ast.JoinedStr, ast.FormattedValue,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.NamedExpr, ast.List, ast.Tuple,
    ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
    ast.Yield, ast.Global, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
# Attributes by which a value leads to frames, code and the names of modules.
INNER_ATTRIBUTE = re.compile(r"_|(?:gi|cr|ag|tb|co|func|im|f)_|mro\Z|modules\Z")
MODE = re.compile(r"[rwaxbt+]{1,4}")
OPEN_OPTIONS = frozenset({"mode", "encoding", "errors", "newline", "buffering"})
COOKIE = re.compile(r"#[^\n]*coding[:=]")


@cache
def _load_modules() -> Mapping[str, frozenset[str]]:
    """Return what may be used of each module."""
    modules = {name.partition("module ")[2]: names for name, names in load_table().words.items()}
    return {name: names for name, names in modules.items() if name}


@cache
def _load_builtins() -> tuple[frozenset[str], frozenset[str]]:
    """Return the builtins that only compute, and all others, which no name of the code may stand for."""
    known = load_table().words["builtins_of_python"]
    return known, frozenset(dir(builtins)) - known


@dataclass(slots=True)
class CodeFiles:
    """The files that code opens, by the names that it gives."""

    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    imports: bool = False


def check_code(code: str) -> CodeFiles:
    """Return the files that code opens. Raise UnclearCommandError where it may do more than compute."""
    if len(code) > MAX_CODE or COOKIE.search(code):
        raise UnclearCommandError("the Python code is too long, or in a coding of its own")
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnclearCommandError("the code does not parse as Python 3") from None
    return _Checker(tree).check()


class _Checker:
    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(_walk(tree))
        self.files = CodeFiles()
        self.names = _load_modules()
        self.builtins, self.other_builtins = _load_builtins()
        self.modules: dict[str, str] = {}  # names that stand for a module
        self.granted: set[int] = set()  # nodes that another one has vouched for
        self.own = {node.id for node in self.nodes if isinstance(node, ast.Name) and not _is_load(node)}
        self.own |= {node.arg for node in self.nodes if isinstance(node, ast.arg)}
        self.own |= {node.name for node in self.nodes if isinstance(node, ast.FunctionDef)}
        self.own |= {node.name or "" for node in self.nodes if isinstance(node, ast.ExceptHandler)}

    def check(self) -> CodeFiles:
        for node in self.nodes:
            self.files.imports |= isinstance(node, ast.Import | ast.ImportFrom)
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_names(node)
        if not self.own.isdisjoint({*self.modules, *self.other_builtins}):
            raise _unclear("a name that stands for two things")
        for node in self.nodes:  # a call comes before what it holds
            self._check_node(node)
        return self.files

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in self.names:
                raise _unclear(f"the module {alias.name[:40]}")
            top = alias.name.partition(".")[0]
            self.modules[alias.asname or top] = alias.name if alias.asname else top

    def _import_names(self, node: ast.ImportFrom) -> None:
        known = self.names.get(node.module or "", frozenset())
        for alias in node.names:
            if node.level or alias.name not in known or alias.name == "path":
                raise _unclear(f"{alias.name[:40]} of the module {(node.module or '.')[:40]}")
            self.own.add(alias.asname or alias.name)

    def _check_node(self, node: ast.AST) -> None:
        if not isinstance(node, NODES):
            raise _unclear(type(node).__name__)
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            raise _unclear("a decorator")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            self.granted.add(id(node.func))
            self._open(node)
        elif isinstance(node, ast.Attribute):
            self._check_attribute(node)
        elif isinstance(node, ast.Name) and id(node) not in self.granted:
            self._check_name(node)

    def _check_name(self, node: ast.Name) -> None:
        is_known = node.id in self.own or node.id in self.builtins
        if node.id in self.modules or node.id.startswith("__") or not is_known:
            raise _unclear(node.id[:40])

    def _check_attribute(self, node: ast.Attribute) -> None:
        """Allow an attribute of a module that is listed, and any plain one of a value."""
        module = self._find_module(node.value)
        if module is not None:
            if node.attr not in self.names[module]:
                raise _unclear(f"{module}.{node.attr[:40]}")
            if f"{module}.{node.attr}" in self.names and id(node) not in self.granted:
                raise _unclear(f"{module}.{node.attr} as a value")
            self._grant(node.value)
        elif INNER_ATTRIBUTE.match(node.attr):
            raise _unclear(node.attr[:40])

    def _find_module(self, node: ast.expr) -> str | None:
        """Return the module that an expression names: `os`, or `os.path`."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        if isinstance(node, ast.Attribute):
            parent = self._find_module(node.value)
            inner = f"{parent}.{node.attr}"
            return inner if inner in self.names else None
        return None

    def _grant(self, node: ast.expr) -> None:
        self.granted.add(id(node))
        if isinstance(node, ast.Attribute):
            self._grant(node.value)

    def _open(self, node: ast.Call) -> None:
        """Record `open('path', 'mode')`: both are texts that stand there."""
        options = {keyword.arg: keyword.value for keyword in node.keywords}
        values = [value.value if isinstance(value, ast.Constant) else None for value in node.args]
        mode = options.get("mode")
        text = values[1] if len(values) == 2 else mode.value if isinstance(mode, ast.Constant) else "r"
        is_clear = len(values) in {1, 2} and options.keys() <= OPEN_OPTIONS
        is_clear &= mode is None or isinstance(mode, ast.Constant)
        if not (is_clear and values[0] and isinstance(values[0], str) and isinstance(text, str)):
            raise _unclear("a file whose name is known only when it runs")
        if not MODE.fullmatch(text):
            raise _unclear("a mode of opening a file")
        (self.files.reads if set(text) <= set("rbt") else self.files.writes).append(values[0])


def _walk(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes, outer ones first; raises UnclearCommandError for too many."""
    for count, node in enumerate(ast.walk(tree)):
        if count > MAX_TREE:
            raise UnclearCommandError("the Python code is too long")
        yield node


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _unclear(what: str) -> UnclearCommandError:
    return UnclearCommandError(f"the Python code may do more than compute: {what}")
