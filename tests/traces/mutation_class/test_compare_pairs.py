"""More pairs of texts: small differences that are easily taken for none, and the other way round."""

from __future__ import annotations

import pytest

from traces.mutation_class import EVOLUTION_CLASS, REFACTOR, classify_change

SAME = [
    ("a.py", "_x = 1\nprint(_x)\n", "_y = 1\nprint(_y)\n"),
    ("a.py", "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    return g\n", "def f():\n    y = 1\n    def g():\n        nonlocal y\n        y = 2\n    return g\n"),
    ("a.py", "def h():\n    try:\n        f()\n    except E as e:\n        g(e)\n", "def h():\n    try:\n        f()\n    except E as x:\n        g(x)\n"),
    ("a.py", "def f(*a, **k):\n    return g(*a, **k)\n", "def f(*x, **y):\n    return g(*x, **y)\n"),
    ("a.py", "x = lambda a: a\n", "x = lambda b: b\n"),
    ("a.py", "'''a'''\nx=1\n", "'''b'''\nx=1\n"),
    ("a.py", "x = not a in b\n", "x = not (a in b)\n"),
    ("a.py", "(a - b) - c\n", "a - b - c\n"),
    ("a.py", "class A:\n    _x = 1\n    def f(self): return self._x\n", "class A:\n    _y = 1\n    def f(self): return self._y\n"),
    ("a.py", "with a as b, c as d: f(b, d)\n", "with (a as b, c as d): f(b, d)\n"),
    ("a.py", "class A:\n    @property\n    def x(self): return 1\n    def y(self): return 2\n", "class A:\n    def y(self): return 2\n    @property\n    def x(self): return 1\n"),
    ("a.py", "def _f(x):\n    def x(): pass\n    return x\n", "def _f(y):\n    def y(): pass\n    return y\n"),
    ("a.js", "let a = 1; { let a = 2; f(a) } f(a)", "let a = 1; { let b = 2; f(b) } f(a)"),
    ("a.ts", "const a = <T,>(x: T) => x", "const a = <U,>(x: U) => x"),
    ("a.go", "package a\nfunc f() { x := 1; if true { x := 2; g(x) }; g(x) }\n", "package a\nfunc f() { x := 1; if true { y := 2; g(y) }; g(x) }\n"),
    ("A.java", "class A { int x; void f(int x) { this.x = x; } }", "class A { int x; void f(int y) { this.x = y; } }"),
    ("A.java", "class A { private transient int x; void f(int y) { this.x = y; } }", "class A { private transient int z; void f(int y) { this.z = y; } }"),
    ("a.rs", "impl A { fn f() {} fn g() {} }", "impl A { fn g() {} fn f() {} }"),
]  # fmt: skip
OTHER = [
    ("a.py", "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    return x\n", "def f():\n    x = 1\n    def g():\n        x = 2\n    return x\n"),
    ("a.py", "import a.b\na.b.c()\n", "import a.d\na.d.c()\n"),
    ("a.py", "from a import b\nb()\n", "from a import c\nc()\n"),
    ("a.py", "def f(a, /, b):\n    return a\n", "def f(a, b):\n    return a\n"),
    ("a.py", "x = {1: 2}\n", "x = {1, 2}\n"),
    ("a.py", "async def f():\n    await g()\n", "def f():\n    g()\n"),
    ("a.py", "print('a', end='')\n", "print('a', sep='')\n"),
    ("a.py", "f(x=1)\n", "f(y=1)\n"),
    ("a.py", "x: int = 1\n", "x: str = 1\n"),
    ("a.py", "x = '''a'''\n", "x = '''b'''\n"),
    ("a.py", "def f():\n    '''a'''\n    '''b'''\n", "def f():\n    '''a'''\n    '''c'''\n"),
    ("a.py", "def f():\n    f'{a}'\n", "def f():\n    f'{b}'\n"),
    ("a.py", "if a: pass\nelif b: pass\n", "if a: pass\nif b: pass\n"),
    ("a.py", "x = a if b else c\n", "x = c if b else a\n"),
    ("a.py", "for x in y:\n    pass\nelse:\n    z()\n", "for x in y:\n    pass\nz()\n"),
    ("a.py", "a = b = 1\n", "b = a = 1\n"),
    ("a.py", "x[a:b]\n", "x[b:a]\n"),
    ("a.py", "x = -1\n", "x = +1\n"),
    ("a.py", "x = a not in b\n", "x = not a in b\n"),
    ("a.py", "(a < b) < c\n", "a < b < c\n"),
    ("a.py", "a - (b - c)\n", "a - b - c\n"),
    ("a.py", "match x:\n    case 1: f()\n    case 2: g()\n", "match x:\n    case 2: g()\n    case 1: f()\n"),
    ("a.py", "class A:\n    x = 1\n    def f(self): return x\n", "class A:\n    y = 1\n    def f(self): return y\n"),
    ("a.py", "def f(a=1): return a\n", "def f(a=2): return a\n"),
    ("a.py", "@a\ndef f(): pass\n", "@b\ndef f(): pass\n"),
    ("a.py", "@a\n@b\ndef f(): pass\n", "@b\n@a\ndef f(): pass\n"),
    ("a.py", "class A:\n    @staticmethod\n    def x(self): return 1\n", "class A:\n    @classmethod\n    def x(self): return 1\n"),
    ("a.py", "import os\ndef f(os): return os\n", "import os\ndef f(x): return os\n"),
    ("a.py", "import os\ndef f(x): return os\n", "import os\ndef f(os): return os\n"),
    ("a.py", "total = 0\ndef f():\n    return total\n", "total = 0\ndef f():\n    total = 1\n    return total\n"),
    ("a.js", "let a = 1; { let b = 2; f(b) } f(a)", "let a = 1; { let b = 2; f(a) } f(a)"),
    ("a.js", "var a = 1; function f() { var a; return a }", "var a = 1; function f() { return a }"),
    ("a.js", "async function f() { for await (const x of y) g(x) }", "async function f() { for (const x of y) g(x) }"),
    ("a.js", "a = b ? c : d", "a = b ? d : c"),
    ("a.js", "x = a?.b", "x = a.b"),
    ("a.js", "x = a ?? b", "x = a || b"),
    ("a.js", "return_ = () => { return\n1 }", "return_ = () => { return 1 }"),
    ("a.js", "const {a, b} = c; f(a, b)", "const {b, a} = c; f(a, b)"),
    ("a.js", "const a = 1, b = 2", "const b = 2, a = 1"),
    ("a.js", "export default function f() {}", "function f() {}"),
    ("a.js", "class A { static a() {} }", "class A { a() {} }"),
    ("a.js", "class A { get a() { return 1 } }", "class A { a() { return 1 } }"),
    ("a.js", "/a/g.test(x)", "/a/i.test(x)"),
    ("a.js", "x = <a b={c} />", "x = <a d={c} />"),
    ("a.js", "if (a) b(); else c()", "if (a) c(); else b()"),
    ("a.js", "switch (a) { case 1: b(); break; default: c() }", "switch (a) { case 1: b(); default: c() }"),
    ("a.ts", "let x: A | B", "let x: B | A"),
    ("a.ts", "import type { A } from 'a'", "import { A } from 'a'"),
    ("a.ts", "enum A { B, C }", "enum A { C, B }"),
    ("a.ts", "type A = { a?: 1 }", "type A = { a: 1 }"),
    ("a.ts", "class A { private a = 1 }", "class A { public a = 1 }"),
    ("a.go", "package a\nfunc f() { x := 1; if true { x = 2 }; g(x) }\n", "package a\nfunc f() { x := 1; if true { x := 2; _ = x }; g(x) }\n"),
    ("a.go", "package a\nfunc f() { x := 1; if true { x = 2; h(x) }; g(x) }\n", "package a\nfunc f() { x := 1; if true { x := 2; h(x) }; g(x) }\n"),
    ("a.go", "package a\nfunc f() { defer g() }\n", "package a\nfunc f() { go g() }\n"),
    ("a.go", "package a\ntype S struct { A, B int }\n", "package a\ntype S struct { B, A int }\n"),
    ("a.go", "package a\nconst (\n a = iota\n b\n)\n", "package a\nconst (\n b = iota\n a\n)\n"),
    ("a.go", "package a\nfunc init() { f() }\nfunc init() { g() }\n", "package a\nfunc init() { g() }\nfunc init() { f() }\n"),
    ("A.java", "class A { void f(int a) { int b = a; } }", "class A { void f(long a) { int b = a; } }"),
    ("A.java", "class A { static { f(); } static { g(); } }", "class A { static { g(); } static { f(); } }"),
    ("A.java", "class A { void f() { g(); h(); } }", "class A { void f() { h(); g(); } }"),
    ("A.java", "class A { int x; void f(int y) { x = y; } }", "class A { int x; void f(int x) { x = x; } }"),
    ("A.java", "class A { void f() { synchronized (this) { g(); } } }", "class A { void f() { { g(); } } }"),
    ("a.rs", "fn f() { let x = 1; g(x); }", "fn f() { let mut x = 1; g(x); }"),
    ("a.rs", "m! { (a) }", "m! { [a] }"),
    ("a.rs", "struct A { a: u8, b: u8 }", "struct A { b: u8, a: u8 }"),
    ("a.c", "x = a ? b : c;", "x = a ? c : b;"),
    ("a.c", "int f(void) { return sizeof(int); }", "int f(void) { return sizeof(long); }"),
    ("a.cpp", "int f() { return a->b; }", "int f() { return a.b; }"),
    ("a.rb", "x = a unless b", "x = a if b"),
    ("a.rb", "def f; a.b {|x| x }; end", "def f; a.b {|x| y }; end"),
    ("a.css", "a { color: red; color: blue }", "a { color: blue; color: red }"),
    ("a.css", "a > b { x: y }", "a b { x: y }"),
    ("a.json", "[1, 2]", "[2, 1]"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "before", "after"), SAME, ids=lambda text: repr(text)[:40])
def test_it_means_the_same(path, before, after):
    assert classify_change(path, before, after) == REFACTOR


@pytest.mark.parametrize(("path", "before", "after"), OTHER, ids=lambda text: repr(text)[:40])
def test_it_means_something_else(path, before, after):
    assert classify_change(path, before, after) == EVOLUTION_CLASS
