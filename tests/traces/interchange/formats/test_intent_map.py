"""intent_map.md: rendered the same way each time, and parsed as people write it."""

from __future__ import annotations

from traces.interchange.formats.intent_map import IntentSection, parse_intent_map, render_intent_map
from traces.mutation_class.symbols import Symbol


def test_the_map_is_stable_and_read_back():
    sections = [
        IntentSection("INT-002", "", ("b`c.ts", "a b.ts", "a b.ts")),
        IntentSection("INT-001", "Two\nlines", ("src/a.ts",)),
        IntentSection("INT-003", "Empty"),
    ]
    text = render_intent_map(sections)
    assert text == render_intent_map(reversed(sections))
    assert parse_intent_map(text) == [
        IntentSection("INT-001", "Two lines", ("src/a.ts",)),
        IntentSection("INT-002", "", ("a b.ts", "b`c.ts")),
        IntentSection("INT-003", "Empty"),
    ]


def test_maps_as_people_write_them_are_read():
    text = "# Map\r\n- `before.ts`\r\n## INT-001: A: b\r\n| `a.ts` | x |\r\n* `b.ts` and `c.ts`\r\nprose `d.ts`\r\n"
    assert parse_intent_map(text) == [IntentSection("INT-001", "A: b", ("a.ts", "b.ts", "c.ts"))]


def test_symbols_stand_behind_their_file_and_are_no_paths():
    symbols = [
        Symbol("login", "function", 1, 2),
        Symbol("Session", "class", 3, 9),
        Symbol("end", "method", 4, 5),
    ]
    text = render_intent_map([IntentSection("INT-001", "", ("src/a.ts", "b.md"), {"src/a.ts": symbols})])
    assert text.endswith("\n- `b.md`\n- `src/a.ts` (`login`, `Session`)\n")
    assert parse_intent_map(text) == [IntentSection("INT-001", "", ("b.md", "src/a.ts"))]
