"""`.intentignore` is read as git reads its ignore files."""

from __future__ import annotations

import os
import random
import subprocess

import pathspec
import pytest

from controlplane.policy.globs.intentignore import IgnoreRules
from controlplane.policy.paths.canonical import canonicalize
from controlplane.policy.paths.filesystem import UnknownFilesystem
from tests.policy import gate_cases
from tests.policy.builders import FakeFilesystem, bash, judge, said, snapshot
from tests.workload import bounded

LISTS = int(os.environ.get("ICP_IGNORE_LISTS", "300"))  # random rule lists that are compared with git
NAMES = ("a", "b", "ab", "abc", "foo", ".x", "a b", "a!", "#a", "ü", "x]", "a-b", "b\\")
PIECES = (
    *("a", "b", "ab", "foo", ".x", "ü", "*", "**", "***", "?", "/", "/", "**/", "/**", "/**/", "**\\/"),
    *("[ab]", "[!a]", "[^b]", "[a-c]", "[]x]", "[\\]x]", "[b-a]", "[/]", "[a/]", "[a-]", "[a", "[[:]"),
    *("[[:alpha:]]", "[[:x:]]", "\\*", "\\", "\\ ", " ", "\t", "!", "#", "-", "{a,b}"),
)

PATH_CASES = [case for case in gate_cases.load("ignore") if case["class"] != "ignore.intent-line"]
INTENT_CASES = [case for case in gate_cases.load("ignore") if case["class"] == "ignore.intent-line"]


def rules_of(case: dict) -> IgnoreRules:
    return IgnoreRules.parse(case["workspace"].get("intentignore", gate_cases.STD["intentignore"]))


@pytest.mark.parametrize("case", PATH_CASES, ids=lambda case: case["id"])
def test_gate_cases_on_paths(case):
    raw = case["call"]["input"].get("file_path") or case["call"]["input"]["path"]
    line = rules_of(case).find_rule(canonicalize(raw, root=None, cwd=None, writing=True).path)
    assert (line is not None) == (case["expect"]["error_type"] == "IGNORED_PATH")


@pytest.mark.parametrize("case", INTENT_CASES, ids=lambda case: case["id"])
def test_gate_cases_on_intents(case):
    off = case["session"]["intent"] in rules_of(case).intents
    assert off == (case["expect"]["error_type"] == "INTENT_IGNORED")


@pytest.mark.parametrize(
    ("line", "intents"),
    [
        ("intent:INT-007", {"INT-007"}),
        ("intent: INT-007", {"INT-007"}),
        ("  Intent :\tINT-007  \r", {"INT-007"}),
        ("intent: INT-007 # until the audit", {"INT-007"}),
        ("intent: day2-handshake", {"day2-handshake"}),
        ("intent:", set()),
        ("# intent: INT-007", set()),
        ("!intent: INT-007", set()),
        ("intent-map.md", set()),
        ("INT-007", set()),
    ],
)
def test_lines_that_switch_an_intent_off(line, intents):
    assert IgnoreRules.parse(f"a\n{line}\nb").intents == intents


def test_an_intent_line_is_no_pattern():
    assert IgnoreRules.parse("intent: *").find_rule("a") is None


@pytest.mark.parametrize(
    ("line", "path", "ignored"),
    [
        ("a\t", "a", False),
        ("a\t", "a\t", True),
        ("a{b", "a{b", True),
        ("a{b", "ab", False),
        ("a**b", "axb", True),
        ("**b", "b", True),
        ("a**", "a", True),
    ],
)
def test_a_name_to_the_letter(line, path, ignored):
    assert (IgnoreRules.parse(line).find_rule(path) is not None) == ignored


def test_the_line_that_ignores_is_named_as_it_was_written():
    rules = IgnoreRules.parse("\ufeff*.pem  \n\n# keys\n*.key\nsecret/ \n!/ok.key\n")
    assert rules.find_rule("a/b.pem") == "*.pem  "
    assert rules.find_rule("a/secret/b") == "secret/ "
    assert rules.find_rule("secret", is_dir=True) == "secret/ "
    assert rules.find_rule("secret") is None
    assert rules.find_rule("ok.key") is None
    assert rules.find_rule("a/ok.key") == "*.key"
    assert rules.find_rule("") is None


def test_both_spellings_of_a_letter_are_one():
    assert IgnoreRules.parse("u\u0308ber.md\n").find_rule("\u00fcber.md") == "\u00fcber.md"


def test_the_same_text_is_parsed_once():
    assert IgnoreRules.parse("a\n") is IgnoreRules.parse("a\n")
    assert IgnoreRules.parse("a\n") != IgnoreRules.parse("b\n")


@pytest.mark.parametrize(
    "line", ["*a" * 40, "**/" + "*a*/" * 40 + "b", "**\\/" * 40 + "b", "a" * 5000, "[a-z]*" * 200]
)
@pytest.mark.parametrize("path", ["a" * 250, "a/" * 2000 + "c"], ids=["long", "deep"])
def test_no_line_takes_long(line, path):
    rules = IgnoreRules.parse(line)
    rules.find_rule("a")  # compiled once
    with bounded(400):
        rules.find_rule(path)


@pytest.fixture(scope="module")
def git(tmp_path_factory):
    """Ask git itself: a rule list and paths in, the ignored ones of them out."""
    folder = tmp_path_factory.mktemp("ignore")
    settings = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "init", "-q", str(folder)], check=True, env=settings)
    exclude = folder / ".git" / "info" / "exclude"
    command = ["git", "-C", str(folder), "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"]

    def ask(text: str, paths: list[str]) -> set[str]:
        exclude.write_text(text, newline="")
        done = subprocess.run(
            command, input="\0".join(paths).encode(), capture_output=True, check=False, env=settings
        )
        fields = done.stdout.decode().split("\0")[:-1]
        answers = zip(fields[0::4], fields[2::4], fields[3::4], strict=True)
        return {path for source, pattern, path in answers if source and not pattern.startswith("!")}

    return ask


def _random_rules(chance: random.Random) -> str:
    lines = []
    for _ in range(chance.randint(1, 5)):
        line = "".join(chance.choices(PIECES, k=chance.randint(1, 5)))
        lines.append(chance.choice(("", "", "", "!", "/")) + line + chance.choice(("", "", "", "/")))
    return chance.choice(("\n", "\n", "\n", "\r\n")).join([*lines, ""])


@pytest.mark.deep
def test_git_agrees_on_random_rules(git):
    chance = random.Random(2024)
    for _ in range(LISTS):
        text = _random_rules(chance)
        paths = sorted({"/".join(chance.choices(NAMES, k=chance.randint(1, 4))) for _ in range(40)})
        rules = IgnoreRules.parse(text)
        assert {path for path in paths if rules.find_rule(path) is not None} == git(text, paths), text


@pytest.mark.parametrize(
    "path", ["build/a.o", "src/build/a.o", "a.log", "src/a.log", "docs/a.md", "src/keep.txt"]
)
def test_a_second_reader_agrees_on_plain_rules(path):
    """pathspec reads the everyday half of the language as git does; where it does not, see decision 2."""
    text = "# generated\nbuild/\n*.log\n/docs/*.md\n"
    wanted = pathspec.GitIgnoreSpec.from_lines(text.splitlines()).match_file(path)
    assert (IgnoreRules.parse(text).find_rule(path) is not None) is wanted


@pytest.mark.parametrize("line", ["[a", "a\\", "[[:x:]]", "/[a", "a/[[:foo:]"])
def test_a_line_that_is_no_pattern_matches_nothing(line):
    assert IgnoreRules.parse(f"{line}\n*.log").find_rule(line) is None
    assert IgnoreRules.parse(f"{line}\n*.log").find_rule("a.log") == "*.log"


def test_a_range_from_high_to_low_matches_its_first_character_only():
    rules = IgnoreRules.parse("x[b-a]")
    assert [name for name in ("xa", "xb", "xc") if rules.find_rule(name)] == ["xb"]


def test_a_comment_ignores_no_file_of_its_name():
    assert IgnoreRules.parse("#secret\n\\#kept").find_rule("#secret") is None
    assert IgnoreRules.parse("#secret\n\\#kept").find_rule("#kept") == "\\#kept"


@pytest.mark.parametrize("files", [{"src/build/x": ""}, None])
def test_a_folder_line_holds_for_a_folder_that_goes_as_a_whole(files):
    world = UnknownFilesystem() if files is None else FakeFilesystem.from_texts(files)
    state = snapshot("src/**", intentignore="build/\n")
    assert said(judge(bash("rm -r src/build"), state, world=world))[1] == "INTENTIGNORE_PATH_BLOCKED"
