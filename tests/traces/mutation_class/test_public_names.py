"""Names that others use: to rename them changes what these find, so it is no refactoring."""

from __future__ import annotations

import pytest

from traces.mutation_class import EVOLUTION_CLASS, REFACTOR, classify_change

VIEW = "def show(request, {0}):\n    return find({0})\n"
METHOD = "class A:\n    def find(self, {0}):\n        return {0}\n"
PUBLIC = [
    # Frameworks read the parameters of what they decorate.
    ("a.py", "@app.get('/')\ndef f({0}):\n    return {0}\n", ("q", "query")),
    ("a.py", "@click.command()\n@click.option('--n')\ndef f({0}):\n    print({0})\n", ("n", "number")),
    ("a.py", "@pytest.fixture\ndef _shop({0}):\n    return Shop({0})\n", ("db", "client")),
    ("a.py", "def test_a({0}):\n    assert {0}\n", ("db", "client")),
    # Callers have to name them.
    ("a.py", "def f(*args: int, {0}: int = 1):\n    return {0}\n", ("x", "y")),
    ("a.py", "def f(*, {0}):\n    return {0}\n", ("x", "y")),
    # Other files import them.
    ("a.py", "@shared_task\ndef {0}():\n    pass\n", ("send", "send_all")),
    ("a.py", "def {0}():\n    pass\n", ("f", "g")),
    ("a.py", "class {0}:\n    pass\n", ("A", "B")),
    ("a.py", "{0} = 1\n", ("LIMIT", "MAXIMUM")),
    ("a.py", "__all__ = ['f']\ndef {0}():\n    pass\n", ("f", "g")),
    ("a.py", "__all__ = ['_f']\ndef {0}():\n    pass\n", ("_f", "_g")),
    ("a.py", "def {0}():\n    pass\n", ("_f", "f")),
    ("shop/__init__.py", "from .a import b as {0}\n", ("c", "d")),
    ("a.py", "class A:\n    def {0}(self):\n        pass\n", ("f", "g")),
    ("a.py", "class A:\n    def f(self):\n        self.{0} = 1\n", ("n", "m")),
    # Constructors, serialisers.
    ("a.py", "@dataclass\nclass C:\n    {0}: str\n", ("name", "title")),
    ("a.py", "@dataclass\nclass C:\n    {0}: str\n", ("_name", "_title")),
    ("a.py", "class C:\n    {0}: str\n", ("name", "title")),
    ("A.java", "class A {{ private String {0}; String f() {{ return {0}; }} }}", ("name", "title")),
    ("A.java", "record A(String {0}) {{}}", ("name", "title")),
    ("A.java", "enum A {{ {0} }}", ("B", "C")),
    ("A.java", 'class A {{ @Get("/") void f(String {0}) {{ g({0}); }} }}', ("q", "query")),
    ("A.java", 'class A {{ void f(@Param("a") String {0}) {{ g({0}); }} }}', ("q", "query")),
    ("A.java", "class A {{ public void {0}() {{}} }}", ("f", "g")),
    # Code that reads names while it runs.
    ("a.py", "def f():\n    {0} = 1\n    return locals()\n", ("x", "y")),
    ("a.py", "def f():\n    {0} = 1\n    return eval('x + 1')\n", ("x", "y")),
    ("a.py", "def f():\n    {0} = 1\n    print(f'{{{0}=}}')\n", ("x", "y")),
    ("a.py", "def {0}():\n    pass\nglobals()['_f']()\n", ("_f", "_g")),
    ("a.py", "class A:\n    def {0}(self):\n        pass\n    def g(self):\n        getattr(self, '_f')()\n", ("_f", "_h")),
    ("a.js", "function f() {{ let {0} = 1; return eval('x') }}", ("x", "y")),
    # What a module exports, and what a script shares.
    *((path, text, ("a", "b")) for path in ("a.ts", "a.js", "a.tsx") for text in (
        "export const {0} = 1;", "export function {0}() {{}}", "export default function {0}() {{}}",
        "const {0} = 1; export {{ {0} }};", "function {0}() {{}}\nexport default {0};",
        "module.exports = {{ {0} }}; function {0}() {{}}", "function {0}() {{}}",
    )),
    ("a.ts", "export class {0} {{}}", ("A", "B")),
    ("a.ts", "export class A {{ {0}() {{}} }}", ("f", "g")),
    ("a.ts", "export interface {0} {{}}", ("A", "B")),
    ("a.ts", "export type {0} = string", ("A", "B")),
    ("a.go", "package a\nfunc {0}() {{}}\n", ("Load", "Fetch")),
    ("a.go", "package a\ntype s struct {{ {0} int }}\n", ("Name", "Title")),
]  # fmt: skip
UNCERTAIN = [
    # Callers elsewhere may name them, or not.
    ("a.py", VIEW, ("pk", "number")),
    ("a.py", "def f({0}):\n    return {0}\n", ("x", "y")),
    ("a.py", METHOD, ("x", "y")),
    ("a.py", "def _f({0}):\n    return {0}\nconnect(_f)\n", ("sender", "owner")),
    ("a.py", "def deco(g):\n    def inner({0}):\n        return g({0})\n    return inner\n", ("x", "y")),
    ("a.py", "class A:\n    def _f(self, {0}):\n        return {0}\n    def g(self):\n        on(self._f)\n", ("x", "y")),
]  # fmt: skip
PRIVATE = [
    ("a.py", "def _f({0}):\n    return {0}\n_f(1)\n", ("x", "y")),
    ("a.py", "def f(*{0}):\n    return {0}\n", ("values", "rows")),
    ("a.py", "def f():\n    def g({0}):\n        return {0}\n    return g(1)\n", ("x", "y")),
    ("a.py", "def f():\n    {0} = 1\n    return {0}\n", ("x", "y")),
    ("a.py", "def f():\n    {0} = 'x'\n    return {0}\n", ("x", "y")),
    ("a.py", "import numpy as {0}\n{0}.zeros(1)\n", ("np", "n")),
    ("a.py", "class A:\n    def _f(self, {0}):\n        return {0}\n    def g(self):\n        self._f(1)\n", ("x", "y")),
    ("a.py", "class A:\n    def f(self):\n        return self.{0}()\n    def {0}(self):\n        pass\n", ("_a", "_b")),
    ("a.ts", "export function f({0}: string) {{ return {0} }}", ("x", "y")),
    ("a.ts", "const {0} = 1; export const b = () => {0};", ("a", "c")),
    ("a.ts", "const {0} = 1; export {{ {0} as b }};", ("a", "c")),
    ("a.ts", "export class A {{ private {0}() {{}}\n f() {{ this.{0}() }} }}", ("g", "h")),
    ("a.ts", "export class A<{0}> {{ x?: {0} }}", ("T", "U")),
    ("a.js", "const {0} = require('./lib'); {0}()", ("a", "b")),
    ("A.java", "class A {{ private void {0}() {{}} void f() {{ {0}(); }} }}", ("g", "h")),
    ("A.java", "class A<{0}> {{ void f({0} x) {{}} }}", ("T", "U")),
    ("A.java", "class A {{ @Override void f(int {0}) {{ g({0}); }} }}", ("x", "y")),
    ("a.go", "package a\nfunc {0}() {{}}\nfunc F() {{ {0}() }}\n", ("load", "fetch")),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "names"), PUBLIC, ids=lambda value: repr(value)[:60])
def test_another_name_of_what_others_use_is_no_refactoring(path, text, names):
    before, after = (text.format(name) for name in names)
    assert classify_change(path, before, after) == EVOLUTION_CLASS
    assert classify_change(path, after, before) == EVOLUTION_CLASS


@pytest.mark.parametrize(("path", "text", "names"), UNCERTAIN, ids=lambda value: repr(value)[:60])
def test_whether_another_name_of_a_parameter_matters_is_not_claimed_where_callers_may_use_it(
    path, text, names
):
    before, after = (text.format(name) for name in names)
    assert classify_change(path, before, after) is None
    assert classify_change(path, after, before) is None


@pytest.mark.parametrize(("path", "text", "names"), PRIVATE, ids=lambda value: repr(value)[:60])
def test_another_name_of_what_only_this_file_uses_is_a_refactoring(path, text, names):
    before, after = (text.format(name) for name in names)
    assert classify_change(path, before, after) == REFACTOR
    assert classify_change(path, after, before) == REFACTOR
