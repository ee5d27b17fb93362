"""The table of commands: its notation, and that a mistake in a row is found when it is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from controlplane.policy.effects import Effect
from controlplane.policy.shell.programs.registry import CUSTOM_PROGRAMS, HANDLERS
from controlplane.policy.shell.table.load import load_table, read_table
from controlplane.policy.shell.table.render import render
from controlplane.policy.shell.table.row import TableError

ROOT = Path(__file__).parents[4]


def read(folder, text):
    (folder / "some.toml").write_text(text)
    return read_table(folder)


def test_a_row_says_what_options_and_operands_stand_for(tmp_path):
    table = read(
        tmp_path,
        """
        [options]
        shared = "-+ab --file=read"
        [files]
        "x grep" = { also = "egrep", operands = "text read*", first = "-e", options = "@shared -e= -o=write --color?" }
        [[kinds]]
        effect = "sends"
        why = "sends"
        options = "--quiet"
        programs = "ftp"
        [kinds.commands]
        "x push" = { operands = "remote text*", options = "--out=output --fix^ --to='none' !--force" }
        x = {}
        """,
    )
    row = table.files["x egrep"]
    assert row is table.files["x grep"]
    assert (row.operands, row.repeats, row.first) == (("text", "read"), True, {"-e"})
    flags = dict.fromkeys(("--help", "--version", "-a", "-b"), "flag")
    assert row.options == flags | {"--file": "read", "-e": "text", "-o": "write", "--color": "attached"}
    push, plain = table.kinds["x"]
    assert push.options == {"--quiet": "flag", "--out": "output", "--fix": "writing", "--to=none": "flag"}
    assert (push.forms, push.effect, plain.name) == ({"--force"}, Effect.SENDS, "x")
    assert table.programs["ftp"].effect is Effect.SENDS


MISTAKES = {
    '[files]\nx = { options = "-o=wriet" }': "some.toml: x: wriet is no role here: one of attached, flag, read",
    '[files]\nx = { options = "-o=output" }': "some.toml: x: output is no role here",
    '[files]\nx = { operands = "raed*" }': "some.toml: x: raed is no role here",
    '[files]\nx = { options = "-a -a=" }': "some.toml: x: the option -a stands there twice",
    '[files]\nx = { options = "name" }': "some.toml: x: 'name' is no option: write -x, --name, --name=role",
    '[files]\nx = { options = "@diff" }': "some.toml: x: @diff is not among the sets of options: none",
    '[files]\nx = { marks = "safe" }': "some.toml: x: safe is no mark: one of any_arguments",
    '[files]\nx = { needs = "-l" }': "some.toml: x: needs: -l is not among the options",
    '[files]\nx = { option = "-l" }': "some.toml: x: option is not known here: one of actions, also",
    '[files]\nx = {}\ny = { also = "x" }': "some.toml: x has two rows",
    "[file]\nx = {}": "some.toml: file is not known here",
    '[[kinds]]\neffect = "magic"\nwhy = "x"': "some.toml: 'magic' is no effect: one of reads",
    '[[kinds]]\neffect = "sends"': "some.toml: a group of sends says no `why`",
    '[[kinds]]\neffect = "sends"\nwhy = "x"\n[kinds.commands]\nx = { options = "-o=write" }': "x: write is no role",
    "[files": "some.toml: Expected ']' at the end of a table declaration (at end of document)",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_named_with_its_file_and_row(tmp_path, text):
    with pytest.raises(TableError) as error:
        read(tmp_path, text)
    assert MISTAKES[text] in str(error.value)


def test_a_handler_belongs_to_a_row():
    names = {row.name for row in load_table().files.values()}
    assert HANDLERS.keys() <= names
    assert not HANDLERS.keys() & CUSTOM_PROGRAMS.keys()


def test_a_kind_begins_with_its_program_and_stands_before_shorter_ones():
    for program, rows in load_table().kinds.items():
        assert all(row.words[0] == program for row in rows)
        lengths = [len(row.words) for row in rows]
        assert lengths == sorted(lengths, reverse=True), program


def test_the_page_of_the_docs_is_the_table():
    assert (ROOT / "docs" / "commands.md").read_text() == render()


def test_the_table_is_loaded_by_the_first_command_and_not_by_an_import():
    code = (
        "from controlplane.policy.shell import analyse\n"
        "from controlplane.policy.shell.table.load import load_table\n"
        "assert load_table.cache_info().currsize == 0\n"
        "analyse('ls')\n"
        "assert load_table.cache_info().currsize == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
