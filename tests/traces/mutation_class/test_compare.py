"""The class of a change, as two texts tell it themselves."""

from __future__ import annotations

import pytest

from traces.mutation_class import EVOLUTION_CLASS, REFACTOR, classify_change

CLASS = "class A:\n    def one(self):\n        return self._two()\n    def _two(self):\n        return 1\n"

LAYOUT = [
    ("a.py", "x = 1\n", "x=1  # what for\n"),
    ("a.py", "x = 'it'\n", 'x = "it"\n'),
    ("a.py", "x = 'a' \"b\"\n", "x = ('ab')\n"),
    ("a.py", "x = f'a{y}'\n", 'x = f"a{y}"\n'),
    ("a.py", "x = 1_000, 0XFF,\n", "x = (1000, 255)\n"),
    ("a.py", "if a and \\\n        b:\n    c()\n", "if (a and b):\n  c()\n"),
    ("a.py", "def f():\n    return 1\n", 'def f():\n    """One."""\n    return 1\n'),
    ("a.py", "class A(): a = 1; b = 2\n", "class A:\n    a = 1\n    b = 2\n"),
    ("a.py", "f((x for x in y))\n", "f(x for x in y)\n"),
    ("a.js", "const f = x => x + 1\n", "const f = (x) => x + 1;\n"),
    ("a.js", "a = {'b': [1, 2,],}\n", 'a = { "b": [1, 2] };\n'),
    ("a.js", "x = 'it\\'s'\n", 'x = "it\'s";\n'),
    ("a.ts", "interface A { x: number, y: string }", "interface A {\n  x: number;\n  y: string;\n}\n"),
    ("a.tsx", "const A = () => <p a='b'>\n  hi\n</p>", 'const A = () => (<p a="b">hi</p>);'),
    ("a.go", "package a\nfunc f() int { return (1) }\n", "package a\n\n// One.\nfunc f() int {\n\treturn 1\n}\n"),
    ("A.java", "class A { int f(){return 1;} }", "/** A. */\nclass A {\n    int f() { return (1); }\n}\n"),
    ("a.rs", "fn f() -> i32 { 1 }", "/// One.\nfn f() -> i32 {\n    1\n}\n"),
    ("a.c", "int f(void) { return 1; }", "int f(void)\n{\n    return 1; /* one */\n}\n"),
    ("a.cpp", "class A { int x; };", "class A {\n  int x;  // one\n};\n"),
    ("a.rb", "def f; 1 end", "# One.\ndef f\n  1\nend\n"),
    ("a.json", '{"a": [1]}', '{\n  "a": [\n    1\n  ]\n}\n'),
    ("a.css", "a { color: red }", "a {\n  color: red /* so */\n}\n"),
    ("a.css", "a{color:red;margin:0}", "a {\n  color: red;\n  margin: 0;\n}\n"),
    ("a.py", "def _f(a):\n    return a\n\ndef _g(a):\n    return a\n", "def _g(b):\n    return b\n\ndef _f(b):\n    return b\n"),
]  # fmt: skip
MOVES = [
    ("a.py", "def f():\n    return g()\ndef g():\n    return 1\n", "def g():\n    return 1\ndef f():\n    return g()\n"),
    ("a.py", "import os\nfrom a import c, b\n", "from a import b, c\nimport os\n"),
    ("a.py", "A = 1\ndef f():\n    return A\n", "def f():\n    return A\nA = 1\n"),
    ("a.py", CLASS, "class A:\n    def _two(self):\n        return 1\n    def one(self):\n        return self._two()\n"),
    ("a.js", "import a from 'a'\nimport {c, b} from 'b'\n", "import { b, c } from 'b';\nimport a from 'a';\n"),
    ("a.js", "class A { b() {} c() {} }", "class A { c() {}\n  b() {} }"),
    ("a.ts", "interface A { a: 1 }\ntype B = A", "type B = A;\ninterface A { a: 1 }\n"),
    ("a.go", "package a\nvar x = f()\nfunc f() int { return 1 }\n", "package a\nfunc f() int { return 1 }\nvar x = f()\n"),
    ("A.java", "class A { int f; void a() {} void b() {} }", "class A { int f; void b() {} void a() {} }"),
    ("a.rs", "use a::{c, b};\n#[inline]\nfn f() {}\nfn g() {}", "use a::{b, c};\nfn g() {}\n#[inline]\nfn f() {}"),
    ("a.c", "#include <b.h>\n#include <a.h>\n", "#include <a.h>\n#include <b.h>\n"),
    ("a.rb", "class A\n def a; 1 end\n def b; 2 end\nend", "class A\n def b; 2 end\n def a; 1 end\nend"),
]  # fmt: skip
RENAMES = [
    ("a.py", "def _f(a, b):\n    return a + b\n", "def _f(x, y):\n    return x + y\n"),
    ("a.py", "def _f(a):\n    return a\ndef g(a):\n    return a\n", "def _f(x):\n    return x\ndef g(a):\n    return a\n"),
    ("a.py", "def _f():\n    return 1\n_f()\n", "def _h():\n    return 1\n_h()\n"),
    ("a.py", "def _f(data):\n    return 1\n_f(data=2)\n", "def _f(rows):\n    return 1\n_f(rows=2)\n"),
    ("a.py", CLASS, CLASS.replace("_two", "_three")),
    ("a.py", "import a as b\nb.c()\n", "import a as d\nd.c()\n"),
    ("a.py", "x = [y for y in z]\n", "x = [v for v in z]\n"),
    ("a.py", "class A:\n    def f(self):\n        self._n = 1\n", "class A:\n    def f(self):\n        self._m = 1\n"),
    ("a.js", "function f(a) { var b = a; return b }", "function f(x) { var y = x; return y }"),
    ("a.js", "class A { #n = 1; f() { return this.#n } }", "class A { #m = 1; f() { return this.#m } }"),
    ("a.js", "const f = ({ a: b }) => b", "const f = ({ a: c }) => c"),
    ("a.ts", "class A { constructor(private n: B) { f(this.n) } }", "class A { constructor(private m: B) { f(this.m) } }"),
    ("a.ts", "import 'c'\ninterface A { a: 1 }\nlet x: A", "import 'c'\ninterface B { a: 1 }\nlet x: B"),
    ("a.go", "package a\nfunc f(x int) int { y := x; return y }\n", "package a\nfunc f(v int) int { w := v; return w }\n"),
    ("A.java", "class A { private static int f; int g() { return f; } }", "class A { private static int h; int g() { return h; } }"),
]  # fmt: skip
MOVED_AND_RENAMED = [
    ("a.py", CLASS, "class A:\n    def _three(self): return 1\n    def one(self): return self._three()  # so\n"),
    ("a.go", "package a\nfunc f(x int) int { return x }\nfunc g() {}\n", "package a\nfunc g() {}\nfunc f(y int) int { return y }\n"),
]  # fmt: skip

MEANING = [
    ("a.py", "x = 1\n", "x = 2\n"),
    ("a.py", "x = 'a'\n", "x = b'a'\n"),
    ("a.py", "x = 1\n", "x = 1.0\n"),
    ("a.py", "x = f'a{y}'\n", "x = f'b{y}'\n"),
    ("a.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
    ("a.py", "x = y[1]\n", "x = y[1,]\n"),
    ("a.py", "x = (1)\n", "x = (1,)\n"),
    ("a.py", "def f():\n    return 1\ndef g():\n    return 2\n", "def g():\n    return 1\ndef f():\n    return 2\n"),
    ("a.py", "def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n"),
    ("a.py", "def f(a, b):\n    return a - b\n", "def f(b, a):\n    return a - b\n"),
    ("a.py", "def f(x):\n    return x.one\n", "def f(x):\n    return x.two\n"),
    ("a.py", "def f():\n    return os.sep\n", "def f():\n    return sys.sep\n"),
    ("a.py", "class A(B):\n    def one(self): return 1\n", "class A(B):\n    def two(self): return 1\n"),
    ("a.py", "def f(a):\n    b = 1\n    return a\n", "def f(a):\n    a = 1\n    return a\n"),
    ("a.py", "x = 1\ndef f():\n    global x\n    x = 2\n", "x = 1\ndef f():\n    global y\n    y = 2\n"),
    ("a.py", "x = 1\ndef f():\n    global x\n    x = 2\n", "y = 1\ndef f():\n    global x\n    x = 2\n"),
    ("a.py", "class A:\n    def __eq__(self, o): return 1\n", "class A:\n    def __ne__(self, o): return 1\n"),
    ("a.py", "def test_a():\n    f()\n", "def check_a():\n    f()\n"),
    ("a.py", "f()\ng()\n", "g()\nf()\n"),
    ("a.py", "def f(): pass\nf()\ndef g(): pass\n", "def f(): pass\ndef g(): pass\nf()\n"),
    ("a.py", "class A: pass\nclass B(A): pass\n", "class B(A): pass\nclass A: pass\n"),
    ("a.py", "def f(): return 1\ndef f(): return 2\n", "def f(): return 2\ndef f(): return 1\n"),
    ("a.py", "class A:\n    x: int = 1\n    y: int = 2\n", "class A:\n    y: int = 2\n    x: int = 1\n"),
    ("a.py", "@on(1)\ndef f(): pass\n@on(2)\ndef g(): pass\n", "@on(2)\ndef g(): pass\n@on(1)\ndef f(): pass\n"),
    ("a.py", "from a import *\nfrom b import *\n", "from b import *\nfrom a import *\n"),
    ("a.py", "import os\nos.umask(0)\nimport b\n", "import os\nimport b\nos.umask(0)\n"),
    ("a.py", "# -*- coding: latin-1 -*-\nx = 1\n", "x = 1\n"),
    ("a.js", "(a?.b).c", "a?.b.c"),
    ("a.js", "a = [1,,]", "a = [1,]"),
    ("a.js", "var o = {a}; var a", "var o = {b}; var b"),
    ("a.js", "import 'a'\nimport 'b'", "import 'b'\nimport 'a'"),
    ("a.js", "x = `a`", "x = `b`"),
    ("a.js", "'use strict'", "('use strict')"),
    ("a.js", "for (i of x) f(i)", "for (let i of x) f(i)"),
    ("a.ts", "class A { @on() a() {} b() {} }", "class A { b() {} @on() a() {} }"),
    ("a.ts", "class A { constructor(readonly n: B) { f(this.n) } }", "class A { constructor(readonly m: B) { f(this.n) } }"),
    ("a.py", "def f(self):\n    return self.a + 1\n", "def f(self):\n    return self.b + 1\n"),
    ("a.ts", "function f(a: string) {}", "function f(a: number) {}"),
    ("a.tsx", "const A = () => <p>a b</p>", "const A = () => <p>ab</p>"),
    ("a.go", "package a\nfunc f() {}\n", "package a\nfunc F() {}\n"),
    ("a.go", "//go:build linux\npackage a\n", "package a\n"),
    ("a.go", "package a\nvar x = f()\nvar y = g()\n", "package a\nvar y = g()\nvar x = f()\n"),
    ("A.java", "class A { int a = f(); int b = g(); }", "class A { int b = g(); int a = f(); }"),
    ("A.java", "class A extends B { void f() {} }", "class A extends B { void g() {} }"),
    ("a.rs", "fn f(a: i32, b: i32) -> i32 { a }", "fn f(a: i32, b: i32) -> i32 { b }"),
    ("a.rs", "fn f() -> i32 { 1 }", "fn f() -> i32 { 1; }"),
    ("a.c", "#define A 1\n#include <a.h>\n", "#include <a.h>\n#define A 1\n"),
    ("a.cpp", "class A { public: int x; private: int y; };", "class A { public: int y; private: int x; };"),
    ("a.rb", "class A\n def a; 1 end\n private\n def b; 2 end\nend", "class A\n def b; 2 end\n private\n def a; 1 end\nend"),
    ("a.json", '{"a": 1}', '{"a": "1"}'),
    ("a.css", "a { width: 1px }", "a { width: 1em }"),
    ("a.css", "a .b { width: 1px }", "a.b { width: 1px }"),
]  # fmt: skip
UNKNOWN = [
    ("a.txt", "x", "y"),
    ("Makefile", "x", "y"),
    (".py", "x", "y"),
    ("a.h", "int x;", "int y;"),
    ("a.py", "def f(:\n", "x\n"),
    ("a.py", "x\n", "def f(:\n"),
    ("a.rs", "fn f(a: i32) -> i32 { a }", "fn f(b: i32) -> i32 { b }"),
    ("a.c", "int f(int a) { return a; }", "int f(int b) { return b; }"),
    ("a.rb", "def f(a) a end", "def f(b) b end"),
    ("a.py", "x = " + "(" * 400 + "1" + ")" * 400, "x = 1"),
    ("a.py", "x = 1\n", "x = 1\n" * 30_000),
    ("a.py", "x = '\udc80'\n", "x = 1\n"),
]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [*LAYOUT, *MOVES, *RENAMES, *MOVED_AND_RENAMED],
    ids=lambda text: repr(text)[:40],
)
def test_layout_order_and_names_are_no_new_meaning(path, before, after):
    assert classify_change(path, before, after) == REFACTOR
    assert classify_change(path, after, before) == REFACTOR


@pytest.mark.parametrize(("path", "before", "after"), MEANING, ids=lambda text: repr(text)[:40])
def test_anything_else_is_an_evolution(path, before, after):
    assert classify_change(path, before, after) == EVOLUTION_CLASS
    assert classify_change(path, after, before) == EVOLUTION_CLASS


@pytest.mark.parametrize(("path", "before", "after"), UNKNOWN, ids=lambda text: repr(text)[:40])
def test_what_cannot_be_known_is_not_claimed(path, before, after):
    assert classify_change(path, before, after) is None


def test_whose_an_argument_of_this_name_is_cannot_be_told_so_its_parameter_may_not_move():
    before, after = "def _f(data):\n    return g(data=data)\n", "def _f(rows):\n    return g(data=rows)\n"
    assert classify_change("a.py", before, after) == EVOLUTION_CLASS
    assert classify_change("a.py", after, before) == REFACTOR


def test_nothing_changed_is_no_evolution():
    assert classify_change("a.py", CLASS, CLASS) == REFACTOR


def test_no_time_is_no_claim():
    assert classify_change("a.py", CLASS * 50, CLASS * 50 + "x = 1\n", seconds=0.0) is None
