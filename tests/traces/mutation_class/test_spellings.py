"""One meaning in two spellings, as formatters and linters change them; and documentation that is more than that."""

from __future__ import annotations

import pytest

from traces.mutation_class import EVOLUTION_CLASS, REFACTOR, classify_change

SAME = [
    ("a.ts", "const f = x => x;", "const f = (x) => x;"),
    ("a.js", "const f = x => x", "const f = (x) => x;\n"),
    ("a.js", "f({ a: a, b })", "f({ a, b: b })"),
    ("a.ts", "const { a: a } = b", "const { a } = b"),
    ("a.go", "package a\nfunc f(a int, b int, c string) {}\n", "package a\nfunc f(a, b int, c string) {}\n"),
    ("a.py", "from a import b, c\n", "from a import c\nfrom a import b\n"),
    ("a.py", "import a, b.c\n", "import a\nimport b.c\n"),
    ("a.py", "def f():\n    import a, b\n", "def f():\n    import a\n    import b\n"),
    ("a.py", "if a:\n    b()\nelse:\n    if c:\n        d()\n    else:\n        e()\n", "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n"),
    ("a.py", "def f(x):\n    if x:\n        return 1\n    return None\n", "def f(x):\n    if x:\n        return 1\n"),
    ("a.py", "class A:\n    x = 1\n    'So  long.'\n    y = 2\n", "class A:\n    x = 1\n    '''So long.'''\n    y = 2\n"),
    ("a.py", "class A:\n    x: int = 1\n    y: str\n", "class A:\n    x: int = 1\n    'The first.'\n    y: str\n    'The second.'\n"),
    ("a.py", "X = 1\n'One.'\n", "X = 1\n'The one.'\n"),
    ("a.py", "@property\ndef f():\n    'One.'\n    g()\n", "@property\ndef f():\n    'Two.'\n    g()\n"),
    ("a.py", "def f():\n    '''One.\n    >>> f()\n    1\n\n    So long.'''\n    g()\n", "def f():\n    '''Two.\n    >>> f()\n    1\n\n    So short.'''\n    g()\n"),
    ("a.py", "def f():\n    try:\n        g()\n    except E as e:\n        h()\n", "def f():\n    try:\n        g()\n    except E:\n        h()\n"),
    ("a.js", "x = `a`", "x = 'a'"),
    ("a.ts", "try { f() } catch (error) { g() }", "try { f() } catch { g() }"),
    ("a.go", "package a\nfunc f(a interface{}) { g(a) }\n", "package a\nfunc f(a any) { g(a) }\n"),
    ("a.go", "package a\nfunc f(a int, b int) { g(a) }\n", "package a\nfunc f(a, _ int) { g(a) }\n"),
    ("a.rs", "/// One.\nstruct A { a: u8 }\n", "/// Two.\nstruct A { a: u8 }\n"),
]  # fmt: skip
OTHER = [
    ("a.py", "'One.'\nparser = ArgumentParser(description=__doc__)\n", "'Two.'\nparser = ArgumentParser(description=__doc__)\n"),
    ("a.py", "@click.command()\ndef f():\n    'One.'\n    g()\n", "@click.command()\ndef f():\n    'Two.'\n    g()\n"),
    ("a.py", "@mcp.tool()\ndef f():\n    'One.'\n    g()\n", "@mcp.tool()\ndef f():\n    'Two.'\n    g()\n"),
    ("a.py", "def f():\n    '''>>> f()\n    1'''\n    return 1\n", "def f():\n    '''>>> f()\n    2'''\n    return 1\n"),
    ("a.rs", "#[derive(Parser)]\nstruct A {\n    /// One line.\n    a: u8 }\n", "#[derive(Parser)]\nstruct A {\n    /// One\n    /// line.\n    a: u8 }\n"),
    ("a.py", "def f():\n    try:\n        g()\n    except E as e:\n        h()\n    print(e)\n", "def f():\n    try:\n        g()\n    except E:\n        h()\n    print(e)\n"),
    ("a.js", "`use strict`", "'use strict'"),
    ("a.js", "f`a`", "f('a')"),
    ("a.js", "x = `\\n`", "x = 'n'"),
    ("a.ts", "try { f() } catch (error) { g(error) }", "try { f() } catch { g(error) }"),
    ("a.ts", "try { f() } catch ({ message }) { g() }", "try { f() } catch { g() }"),
    ("a.go", "package a\nfunc f(a interface{ B() }) {}\n", "package a\nfunc f(a any) {}\n"),
    ("a.go", "package a\nfunc f(a int) { g(a) }\n", "package a\nfunc f(_ int) { g(a) }\n"),
    ("a.go", "package a\nfunc f() (a int) { return }\n", "package a\nfunc f() (_ int) { return }\n"),
    ("a.py", "if a:\n    b()\nelse:\n    if c:\n        d()\n    e()\n", "if a:\n    b()\nelif c:\n    d()\n    e()\n"),
    ("a.py", "if a:\n    b()\nelse:\n    if c:\n        d()\nelse_()\n", "if a:\n    b()\nif c:\n    d()\nelse_()\n"),
    ("a.py", "def f(x):\n    if x:\n        return 1\n    return 0\n", "def f(x):\n    if x:\n        return 1\n"),
    ("a.py", "def f(x):\n    for y in x:\n        return None\n    g()\n", "def f(x):\n    for y in x:\n        g()\n"),
    ("a.py", "from a import b, c\n", "from a import b\nfrom d import c\n"),
    ("a.py", "import a, b\n", "import a\nimport a.b\n"),
    ("a.js", "f({ a: a })", "f({ b: a })"),
    ("a.js", "f({ a })", "f({ a: b })"),
    ("a.go", "package a\nfunc f(a int, b int) {}\n", "package a\nfunc f(a int, b string) {}\n"),
    ("a.go", "package a\nfunc f(a, b int) {}\n", "package a\nfunc f(b, a int) { g(a) }\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "before", "after"), SAME, ids=lambda text: repr(text)[:50])
def test_two_spellings_of_one_meaning_are_a_refactoring(path, before, after):
    assert classify_change(path, before, after) == REFACTOR
    assert classify_change(path, after, before) == REFACTOR


@pytest.mark.parametrize(("path", "before", "after"), OTHER, ids=lambda text: repr(text)[:50])
def test_a_spelling_of_another_meaning_is_an_evolution(path, before, after):
    assert classify_change(path, before, after) == EVOLUTION_CLASS
    assert classify_change(path, after, before) == EVOLUTION_CLASS
