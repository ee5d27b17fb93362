"""One-line texts for prompts."""

from __future__ import annotations

from intents.summaries import one_line


def test_a_text_becomes_one_line_without_control_characters():
    assert one_line(" a\r\n\tb\u202e c\x00 ") == "a b c"


def test_a_long_text_is_cut_at_its_limit():
    assert one_line("word " * 100, 20) == "word word word word…"
