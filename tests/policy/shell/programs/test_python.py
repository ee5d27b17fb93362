"""Python code in a command: what only computes is judged by the files that it opens."""

from __future__ import annotations

import pytest

from controlplane.policy.shell import analyse
from controlplane.policy.shell.programs.python import code
from controlplane.policy.shell.programs.python.code import check_code
from controlplane.policy.shell.result import UnclearCommandError
from tests.policy.shell.answers import reads, reasons, writes


@pytest.mark.parametrize(
    "text",
    [
        "import sys, json; d = json.load(sys.stdin); print(d['a'][0]['b'])",
        "import os.path; print(os.path.normpath('a/../b'))",
        "import os; print(os.path.join('a', 'b'), os.sep)",
        "import os.path as p; print(p.join('a'))",
        "import urllib.parse; print(urllib.parse.quote('a'))",
        "import datetime as d; print(d.datetime.fromtimestamp(1))",
        "from collections import Counter as C\nprint(C('abc').most_common(1))",
        "def f(x, *a, **k):\n    return x + 1\nprint(f(2), (lambda y: y)(1))",
        "try:\n    int('x')\nexcept ValueError as e:\n    print(e)",
        "for i, x in enumerate([1]):\n    print(f'{i}: {x!r:>3}')",
        "x = {k: v for k, v in [(1, 2)]}; del x[1]; print(sorted(x))",
        "while True:\n    break\nelse:\n    pass",
    ],
)
def test_code_that_only_computes(text):
    assert check_code(text).writes == check_code(text).reads == []


@pytest.mark.parametrize(
    "text",
    [
        "import os; os.system('x')",
        "import subprocess",
        "__import__('os').system('x')",
        "eval('1')",
        "eval = eval; eval('1')",
        "for exec in []: pass\nexec('1')",
        "open(x)",
        "open('a', m)",
        "open('a', 'r', 1)",
        "open('a', mode=m)",
        "open('a', opener=f)",
        "open('a', 'z')",
        "open(3)",
        "x = open",
        "map(open, ['a'])",
        "def open(): pass",
        "lambda open: 1",
        "import sys; sys.modules['os']",
        "import sys; s = sys",
        "import sys as json; json.modules",
        "import re as sys, sys as re; re.modules",
        "import re; re.enum.sys",
        "import os.path; os.path.os.system('x')",
        "import os; p = os.path",
        "import urllib.parse; urllib.error",
        "import urllib.request",
        "from os import path",
        "from os import system",
        "from json import *",
        "from . import x",
        "import json; json = 1",
        "from json import loads as open; open('x')",
        "(x for x in [1]).gi_frame.f_builtins",
        "().__class__",
        "getattr(1, 'x')",
        "print(globals())",
        "class A: pass",
        "@f\ndef g(): pass",
        "async def f(): pass",
        "not python",
        "# -*- coding: utf-7 -*-\n1",
        "1 + " * 4_000 + "1",
        "a = 1\x00",
        "(" * 500 + ")" * 500,
    ],
)
def test_code_that_may_do_more(text):
    with pytest.raises(UnclearCommandError):
        check_code(text)


def test_code_of_too_many_parts_is_not_looked_through(monkeypatch):
    monkeypatch.setattr(code, "MAX_TREE", 3)
    with pytest.raises(UnclearCommandError, match="too long"):
        check_code("print(1, 2, 3)")


def test_the_files_that_code_opens_are_those_of_the_command():
    command = "cd src && python3 -c \"s = open('a', encoding='utf-8').read(); open('b', 'w').write(s)\""
    assert reads(command) == [("src", "a")]
    assert writes(command) == [("src", "b")]
    assert writes("python3 -c \"open('~/x', mode='ab')\"") == [("", "./~/x")]


def test_code_needs_an_intent_and_says_where_its_modules_may_come_from():
    (effect,) = analyse("python3 -c 'import json; print(json.dumps(1))'").effects
    assert (effect.kind, effect.effect) == ("python compute", "runs_project")
    assert "modules that the folder may replace" in effect.why
    for command in ("python3 -c 'print(1)'", "python3 -I -c 'import json; print(json.dumps(1))' x"):
        (effect,) = analyse(command).effects
        assert effect.why == "computes"
        assert not analyse(command).safe


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c",
        'python3 -c "$x"',
        "python3 -X x -c 'print(1)'",
        "python3 -c 'import os; os.system(1)'",
        "export PYTHONPATH=src; python3 -c 'print(1)'",
    ],
)
def test_other_code_is_unknown(command):
    assert reasons(command)
    assert not analyse(command).safe
