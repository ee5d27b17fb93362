"""Agents, tools and outcomes have the same names on every page."""

from __future__ import annotations

import re

import pytest

from tests.e2e.whole_place import fill

pytestmark = pytest.mark.e2e

# What people read: not what is quoted from a file, a command or a configuration, nor what one types or filters by.
PROSE = """() => {
  const copy = document.body.cloneNode(true);
  for (const quoted of copy.querySelectorAll(`pre, code, textarea, kbd, script, .rail, .sent, .path, .mono, [aria-label="Tool"]`)) quoted.remove();
  return copy.innerText;
}"""
# The letters of an agent, and the text that follows them.
MARKS = """() => [...document.querySelectorAll("main .mark, header .mark")].map((mark) => [
  mark.textContent,
  (mark.nextSibling?.textContent.trim() || mark.nextElementSibling?.textContent || "").trim(),
])"""
RAW = {
    "the id of a client": r"\b(claude-code|gemini-cli|qwen-code)\b|\bcodex\b",
    "the name of a tool of a client": r"\b(write_file|read_file|apply_patch|run_shell_command|Bash|MultiEdit)\b",
    "the word of an outcome in the API": r"[,·] (ask|allow|deny)\b|\b(destructive|DESTRUCTIVE)\b",
    "an actor as the ledger keeps it": r"\b(token|user|session|person):\S",
    "a class or reason in the API": r"\b(not_in_scope|unknown_target|none_selected)\b",
}
AGENTS = {"CC": "Claude Code", "CX": "Codex"}
# Where the configuration of an agent or the steps of a decision are the subject, in their own words.
TECHNICAL = {"connect", "explain", "policy", "mcp-tools", "interruptions", "outlets"}


def _quote(text: str, match: re.Match[str]) -> str:
    return " ".join(text[max(0, match.start() - 40) : match.end() + 20].split())


def test_nothing_raw_is_said_on_any_page(place, sign_in):
    pages = fill(place)
    page = sign_in("ada", "admin")
    faults, marks = {}, set()
    for name, path in pages.items():
        page.goto(place.address(path))
        marks |= {(name, letters, title) for letters, title in page.evaluate(MARKS)}
        if name in TECHNICAL:
            continue
        text = page.evaluate(PROSE)
        found = {what: re.search(pattern, text) for what, pattern in RAW.items()}
        faults |= {(name, what): _quote(text, match) for what, match in found.items() if match}
    assert [f"{key}: {quote}" for key, quote in faults.items()] == []
    shown = [(name, letters, title) for name, letters, title in sorted(marks) if name != "connect"]
    assert {letters for _, letters, _ in shown} == set(AGENTS)
    assert [mark for mark in shown if not mark[2].startswith(AGENTS[mark[1]])] == []
