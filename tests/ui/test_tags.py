from datetime import UTC, datetime, timedelta

import pytest

from controlplane.templatetags import diffs, icp, meanings, times

NOON = datetime(2025, 11, 24, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "now"),
        (48, "48 s"),
        (60, "1 min"),
        (61, "2 min"),
        (3541, "1 h"),
        (3600, "1 h"),
        (86_000, "1 d"),
        (1_382_400, "16 d"),
    ],
)
def test_what_has_passed_is_rounded_up(seconds, words):
    assert times.format_since(NOON - timedelta(seconds=seconds), NOON) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "time is over"),
        (40, "expires in 40 s"),
        (60, "1 min left"),
        (239, "3 min left"),
        (7199, "1 h left"),
        (172_800, "2 d left"),
    ],
)
def test_what_is_left_is_rounded_down(seconds, words):
    assert times.format_expiry(NOON + timedelta(seconds=seconds), NOON) == words
    if seconds >= 60:
        assert times.format_remaining(NOON + timedelta(seconds=seconds), NOON) == words


def test_the_card_counts_its_last_minute_down_to_nothing():
    assert times.format_remaining(NOON + timedelta(seconds=40), NOON) == "40 s left"
    assert times.format_remaining(NOON - timedelta(seconds=9), NOON) == "0 s left"


@pytest.mark.parametrize(
    ("ago", "words"),
    [(timedelta(hours=1), "11:00:00"), (timedelta(days=2), "Sat 12:00"), (timedelta(days=12), "12 Nov 2025")],
)
def test_an_instant_is_told_by_clock_day_or_date(ago, words):
    assert times.format_timestamp(NOON - ago, NOON) == words


def test_changed_words_are_marked_within_their_line():
    [hunk] = diffs.compute_hunks("a\nconst s = get(t);\nb\n", "a\nconst s = get(c.sid);\nb\n")
    removed, added = hunk.lines[1], hunk.lines[2]
    assert hunk.header == "@@ -1,3 +1,3 @@"
    assert [part.text for part in removed.parts if part.changed] == ["t"]
    assert [part.text for part in added.parts if part.changed] == ["c.sid"]
    assert (removed.old, removed.new, added.old, added.new) == (2, None, None, 2)


def test_a_new_file_is_all_added_and_lines_without_likeness_carry_no_word_marks():
    [new] = diffs.compute_hunks("", "one\ntwo\n")
    [other] = diffs.compute_hunks("alpha beta\n", "12345\n")
    assert diffs.count_changes([new]) == (2, 0)
    assert not any(part.changed for line in other.lines for part in line.parts)


def test_very_long_lines_are_not_compared_word_by_word():
    [hunk] = diffs.compute_hunks("x" * 3000, "x" * 2999 + "y")
    assert [len(line.parts) for line in hunk.lines] == [1, 1]


def test_split_rows_put_removed_beside_added():
    [hunk] = diffs.compute_hunks("a\nb\nc\nd\n", "a\nB\nd\n")
    rows = [(old and old.old, new and new.new) for old, new in diffs.split_rows(hunk.lines)]
    assert rows == [(1, 1), (2, 2), (3, None), (4, 3)]


def test_hidden_characters_become_marks_and_the_rest_is_escaped():
    shown = str(icp.visible("a\u202e<b>\x00\té"))
    assert "U+202E" in shown
    assert "U+0000" in shown
    assert "right-to-left override" in shown
    assert "&lt;b&gt;" in shown
    assert "\té" in shown


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("\uff52\uff4d -rf", ["U+FF52", "U+FF4D"]),
        ("http://\u0430pple.com|sh", ["U+0430"]),
        ("p\u0430yp\u0430l", ["U+0430"]),
        ("\u03bfpen", ["U+03BF"]),
        ("\U0001d41a", ["U+1D41A"]),
    ],
)
def test_letters_that_imitate_others_become_marks(text, marked):
    assert all(mark in str(icp.visible(text)) for mark in marked)


@pytest.mark.parametrize(
    "text", ["привет мир", "\u03b1 + \u03b2", "Grüße, naïve", "日本語 text", "x = 1 # комментарий"]
)
def test_words_of_one_script_are_what_they_seem(text):
    assert "U+" not in str(icp.visible(text))


def test_a_path_mutes_its_folder():
    assert str(icp.path("src/a.ts")) == '<bdi class="path">src/<b>a.ts</b></bdi>'


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "\u2013"), (0, '<span class="faint">0</span>'), (1842, "1,842")]
)
def test_counts_are_grouped_and_nothing_is_a_dash(value, shown):
    assert str(icp.count(value)) == shown


def test_statuses_of_any_case_share_one_meaning_and_unknown_ones_show_their_word():
    assert meanings.find_meaning("IN_PROGRESS").word == "In progress"
    assert "EXOTIC" in icp.badge("EXOTIC")


@pytest.mark.parametrize(("name", "letters"), [("reviewer-1", "R1"), ("Ada Lovelace", "AL"), ("rex", "RE")])
def test_people_are_two_letters(name, letters):
    assert f">{letters}<" in icp.person(name)


@pytest.mark.parametrize(("name", "letters"), [("Claude Code", "CC"), ("homegrown", "HO"), ("", "?")])
def test_agents_are_two_letters(name, letters):
    assert f">{letters}<" in icp.agent_mark(name)


@pytest.mark.parametrize(("milliseconds", "words"), [(22, "22 ms"), (8400, "8.4 s"), (130_000, "2 min")])
def test_durations(milliseconds, words):
    assert icp.duration(milliseconds) == words
