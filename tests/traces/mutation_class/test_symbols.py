"""Functions, classes and methods in every language that has a parser."""

from __future__ import annotations

from threading import Thread

import pytest

from traces.entry_schema import MAX_SYMBOLS
from traces.mutation_class.symbols import find_symbols
from traces.mutation_class.worker_client import find_symbols_in_worker

CASES = {
    "a.py": (
        """\
class A:
    @x
    def f(self):
        def inner(): pass

    async def g(self): pass

def h(): pass
""",
        """class A 1-6
method f 3-4
method g 6-6
function h 8-8""",
    ),
    "a.ts": (
        """\
export class A {
  f(): void {}
  y = () => 1;
}
export function g() {}
export const h = (a) => a;
const k = function () {};
let z = 1;
interface I { m(): void }
enum E { A }
abstract class B {}
namespace N { function q() {} }
function* gen() {}
export default function d() {}
""",
        """class A 1-4
method f 2-2
method y 3-3
function g 5-5
function h 6-6
function k 7-7
class I 9-9
class E 10-10
class B 11-11
function q 12-12
function gen 13-13
function d 14-14""",
    ),
    "a.tsx": (
        """\
export const A = () => <b>x</b>;
class B { render() { return <i/>; } }
""",
        """function A 1-1
class B 2-2
method render 2-2""",
    ),
    "a.js": (
        """\
class A { f() {} y = () => 1; #p() {} }
export default class {}
""",
        """class A 1-1
method f 1-1
method y 1-1
method #p 1-1""",
    ),
    "a.go": (
        """\
package a
type T struct{}
type I interface{ M() }
func (t *T) F() {}
func G() {
}
""",
        """class T 2-2
class I 3-3
method F 4-4
function G 5-6""",
    ),
    "A.java": (
        """\
class A { void f() {}
 A() {} int x; }
interface I { void m(); }
enum E { A; void q() {} }
record R(int a) {}
""",
        """class A 1-2
method f 1-1
method A 2-2
class I 3-3
method m 3-3
class E 4-4
method q 4-4
class R 5-5""",
    ),
    "a.rs": (
        """\
struct S;
enum E { A }
trait T { fn d(&self) {} }
impl S { fn f() {} }
fn g() {}
mod m { fn x() {} }
""",
        """class S 1-1
class E 2-2
class T 3-3
method d 3-3
method f 4-4
function g 5-5
function x 6-6""",
    ),
    "a.c": (
        """\
int f(int a) { return a; }
int *p(void) { return 0; }
struct S { int x; };
struct S q(void);
""",
        """function f 1-1
function p 2-2
class S 3-3""",
    ),
    "a.cpp": (
        """\
class A { public: void f() {} ~A() {} int operator+(int a) { return a; } };
void A::g() {}
namespace n { int h() { return 1; } }
int& r() {}
template<class T> T t(T a) { return a; }
""",
        """class A 1-1
method f 1-1
method ~A 1-1
method operator+ 1-1
method A::g 2-2
function h 3-3
function r 4-4
function t 5-5""",
    ),
    "a.rb": (
        """\
module M
 class A
  def f; end
  def self.g; end
 end
end
def h; end
""",
        """class M 1-6
class A 2-5
method f 3-3
method g 4-4
function h 7-7""",
    ),
    "a.json": (
        """\
{"a": 1}""",
        """""",
    ),
    "a.css": (
        """\
a { b: c }""",
        """""",
    ),
}


@pytest.mark.parametrize("path", CASES)
def test_definitions_with_their_lines(path):
    text, expected = CASES[path]
    found = find_symbols(path, text)
    assert "\n".join(f"{s.kind} {s.name} {s.start_line}-{s.end_line}" for s in found) == expected
    assert find_symbols_in_worker(path, text) == found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "# x"),
        ("a.py", "def broken(:\n"),
        ("a.py", "x = 1\n" * 40_000),
        ("a.py", "def f(): return '\ud800'\n"),
    ],
)
def test_what_cannot_be_read_has_none(path, text):
    assert find_symbols(path, text) is None
    assert find_symbols_in_worker(path, text) is None


def test_a_file_has_only_so_many():
    assert len(find_symbols("a.py", "def f(): pass\n" * (MAX_SYMBOLS + 50))) == MAX_SYMBOLS


@pytest.mark.parametrize("text", ["(" * 100_000, "class A:\n" + "if 1:\n" * 9_000, "[" * 4_000 + "]" * 4_000])
def test_the_worker_outlives_hostile_texts(text):
    asker = Thread(target=find_symbols_in_worker, args=("a.py", text), daemon=True)
    asker.start()
    asker.join(60)  # many times what the worker gives itself, so that a slow machine fails nothing
    assert not asker.is_alive()
    assert [symbol.name for symbol in find_symbols_in_worker("a.py", "def f(): pass\n")] == ["f"]
