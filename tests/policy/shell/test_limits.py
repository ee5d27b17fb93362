"""Whatever an agent sends: an answer, never an exception, and never more than a tenth of a second."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.policy.shell import analyse, analyse_cmd, analyse_powershell
from tests.policy.shell.test_examples import EXAMPLES
from tests.workload import bounded

PIECES = [
    *[
        "a",
        "|",
        ";",
        "(",
        "$(",
        "{",
        "}",
        '"',
        "'",
        "`",
        "<<",
        "&",
        "&&",
        "||",
        ">",
        ">>",
        ">&",
        "<",
        "<(",
        "[[",
        "]]",
        "[",
        "]",
        "((",
        "))",
        "$((",
        "${",
        "$",
        "~",
        "*",
        "?",
        "#",
        "=",
        "!",
        "\\",
        "@(",
        "-",
        "+",
    ],
    *[
        "if",
        "then",
        "else",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        "function",
        "time",
        "exec",
        "cd",
        "rm",
        "cp",
        "ls",
        "cat",
        "eval",
        "x=",
        "f()",
    ],
    *(
        "\n",
        "\\\n",
        " ",
        "<<E\n",
        "\nE\n",
        "'a b'",
        '"$x"',
        "$'\\x41'",
        "{a,b}",
        "{1..3}",
        "é",
        "\u3000",
        "\r",
    ),
]
BUDGET = 100  # yardsticks: ten times what a command needs


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_answered(text):
    for analyser in (analyse, analyse_powershell, analyse_cmd):
        analyser(text, root="/ws")


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_any_row_of_shell_pieces_is_answered(command):
    analysis = analyse(command, cwd=None)
    assert not (analysis.safe and (analysis.writes or analysis.unknown))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(EXAMPLES), st.sampled_from(PIECES), st.data())
def test_a_broken_command_is_answered(example, piece, data):
    command = example["command"]
    at = data.draw(st.integers(0, len(command)))
    analysis = analyse(command[:at] + piece + command[at:], root="/ws")
    for part in (*analysis.parts, *analysis.unknown):
        assert 0 <= (part.start or 0) <= (part.end or 0) <= len(command) + len(piece)


REPEATED = [
    *(
        "a|",
        "ls|",
        "a;",
        "(",
        "$(",
        "{",
        '"$(',
        "`",
        "<<a\n",
        "<<a ",
        "a && ",
        "if ",
        "[[ ",
        "((",
        "${",
        "$((",
        ">x ",
    ),
    *(
        "a=(",
        "case x in ",
        "for x in ",
        "{a,",
        "a|b && ",
        "<(",
        "x() ",
        "f(){",
        "<<<",
        "))",
        "]] ",
        "$[",
        "((a",
        "1+",
    ),
    *(
        "a <<E | ",
        "while a; do ",
        "a b c d ",
        "a[",
        "time ",
        "! ",
        "${a:-",
        '"${a:-',
        "{a,b}",
        "*",
        "cat *;",
        "cd a;",
    ),
    *(
        "cd a||",
        "f=$f$f;",
        "touch {1..64};",
        "touch a{b,c}{d,e} ",
        "sed 's/a/b/' x;",
        "\u00a0",
        "'\u3000'",
        "日",
    ),
    *(
        "<(ls) ",
        "ln -s a b;",
        "mv a b;",
        'bash -c "ls";',
        "eval ",
        "x=$((x+1));",
        "[ a > b ];",
        "[[ a -eq 1 ]];",
    ),
    *("for i in {1..30};do ", "a='${b}';", "a" * 40 + "|", "cp a b/c;", "\\", "\\\n", "#", "-", "~"),
]


@pytest.mark.deep
@pytest.mark.parametrize("piece", REPEATED)
@pytest.mark.parametrize("size", [2_000, 16_000])
def test_no_repetition_is_slow(piece, size):
    command = piece * (size // len(piece.encode()))
    with bounded(BUDGET):
        analyse(command, root="/ws")


@pytest.mark.parametrize("depth", [3, 8, 30])
def test_nested_loops_are_cut_off(depth):
    command = "for i in {1..30};do " * depth + "touch x;" + "done;" * depth
    with bounded(BUDGET):
        analyse(command, root="/ws")
    assert analyse(command).unknown


def test_a_long_file_in_a_here_document_is_still_analysed():
    body = 'const x = {a: [1, 2], f: () => { return "$(x)" || `y` }};\n' * 100
    analysis = analyse(f"cat > src/x.ts <<'EOF'\n{body}EOF\n")
    assert [path.raw for path in analysis.writes] == ["src/x.ts"]
    assert not analysis.unknown


@pytest.mark.parametrize(
    "command",
    [
        "ls\0",
        "ls\r",
        "ls \x1b[1m",
        "ls \ud800",
        "a" * 16_385,
        "a|" * 300,
        "ls;" * 3_000,
        "a\u00a0b c",
        "ls #a\x7f",
    ],
)
def test_hostile_text_is_unknown_as_a_whole(command):
    analysis = analyse(command)
    assert not analysis.safe
    assert analysis.unknown


@pytest.mark.deep
@pytest.mark.parametrize(
    "command",
    [
        "{1\U0010ffff",
        "echo {12..\U0010ffff",
        "a {\u4e2d",
        "{1..5\U0001f600}",
        "echo {\U0010ffff}",
        "x={3\u0600",
    ],
)
def test_a_brace_cannot_make_the_parser_read_beyond_its_tables(command):
    """The grammar's scanner hands code points to isdigit() unchecked (tree-sitter-bash #337): with some memory
    layouts the whole process dies. So it is asked in a process of its own, and never gets there."""
    script = f"from controlplane.policy.shell import analyse; print(analyse({command!r}).safe)"
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "False"), done.stderr
