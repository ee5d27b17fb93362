"""Pages, messages and docs are in words that a stranger understands at once: no phrase of this table is in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_code_structure import FILES, ROOT

# A phrase that readers stumbled over -> what to write instead
PHRASES = {
    r"before a human has looked": "hold until a person approves",
    r"altered unnoticed": "tamper-evident",
    r"one token a role|\bone a line\b|\ba line each\b": "one per role, one per line",
    r"nobody decides (?:on|for)|somebody else (?:must )?decides?": "you cannot approve your own agent's request",
    r"until there is one": "until you add an intent",
    r"this is all that|what it would lose": "new content is shown whole; removed lines are not shown",
    r"may turn out to be|may expand to": "its value could be any path or option",
    r"cannot be known": "unknown, unknown target",
    r"no pattern of \S+ matches": "`dist` is outside INT-010",
    r"parts at the \S+ segment": "closest pattern, with where it differs",
    r"kept out by|keeps? from agents|a line there matches": "ignored by line 2 of .intentignore",
    r"narrow reach|wide reach:": "small: 1 file, no other owner",
    r"somebody": "someone, or whom it is",
    r"some would be owned by": "overlaps INT-003: 1 file would have two owners",
    r"the agent was told:|has not come back": "agent notified; waiting for it to retry",
    r"completion needs a person|policy \S+ \S+ \S+ says so": "workspace policy: a person confirms completion",
    r"\bwrite asked\b|destructive, ask\b": "write held, changes files",
    r"minutes of silence": "release an idle session's intent after (minutes)",
    r"it was left out\b": "that filter was ignored",
    r"what real files hold": "fix common mistakes and list every fix",
    r"what is not in the file goes": "intents missing from the file are deleted",
    r"what stays open": "known limits",
    r"between two heads|nobody yet\.|nothing is lost while it is": "anchor every (minutes); at least once",
    r"\blately\b": "recent, recently",
    r"\balso here\b": "others on this file",
    r"who is told": "outlets",
    r"the page failed": "something went wrong",
    r"once that is": "then, after",
    r"\btakes? over\b": "replaces, becomes the owner",
    r"\banew\b": "again",
    r"\bby (?:itself|themselves)\b": "automatically, in the background, or leave it out",
    r"\blets? go of\b|\blet go\b": "release, delete",
    r"\b(?:take|takes|taken|took) (?:it |\w+ )?back\b": "revoke",
    r"\b(?:of then|of now)\b": "past, current",
    r"\bgo(?:es)? on\b": "continue",
    r"\b(?:this|that|the) very\b": "exactly this",
    r"\bmeanwhile\b": "in the meantime, or who did it",
    r"\bhold(?:s)? from\b": "takes effect on",
    r"everything holds|: does not hold\b": "verified, verification failed",
    r"what came of it": "its result",
    r"(?<!there )\bis no (?:intent|status|archive|JSON|text|UTF-8|regular)": "is not an intent, is not JSON",
}
FORBIDDEN = re.compile("|".join(f"(?:{phrase})" for phrase in PHRASES), re.IGNORECASE)
COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}", re.DOTALL)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
DOCS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# Made from names of tests, and of outcomes in a table of test results
MADE = {ROOT / "docs" / "requirements.md"}


def find_phrases(text: str) -> list[str]:
    return FORBIDDEN.findall(" ".join(text.split()))


def list_messages(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module with their lines, docstrings left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    statements = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    ignored = {id(node) for node in statements if isinstance(node, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in ignored:
            yield node.lineno, node.value


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda file: str(file.relative_to(ROOT)))
def test_templates_are_in_plain_words(template):
    text = COMMENT.sub(" ", template.read_text(encoding="utf-8"))
    assert find_phrases(text) == []


def test_messages_are_in_plain_words():
    found = [
        (f"{file.relative_to(ROOT)}:{line}", phrase)
        for file in FILES
        for line, text in list_messages(file)
        for phrase in find_phrases(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "page", [page for page in DOCS if page not in MADE], ids=lambda page: str(page.relative_to(ROOT))
)
def test_docs_are_in_plain_words(page):
    assert find_phrases(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Until there is one, everything is denied.",
        "Somebody else decides.",
        "Minutes of\n  silence after which a session holds nothing",
        "Completion needs a person. The policy of this workspace says so.",
        "INT-001 is no intent id.",
    ],
)
def test_a_phrase_is_found_whatever_its_case_and_line_breaks(text):
    assert find_phrases(text)
