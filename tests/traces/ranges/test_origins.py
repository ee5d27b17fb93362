"""Lines and those who wrote them, over random histories: who is credited wrote it, who wrote it is credited."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traces.ranges.lineage import IN_PLACE, MOVED, REFORMATTED, UNCLAIMED, Claim
from traces.ranges.origins import trace_history
from traces.ranges.track_lines import FileVersion

HOUR = 3600


def sha(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Line:
    text: str
    writer: int | None
    reformatted: bool = False


@dataclass
class Story:
    """A file, what was done to it step by step, and who wrote which line as far as the story tells."""

    lines: list[Line] = field(default_factory=list)
    versions: list[FileVersion] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    written: dict[int, list[str]] = field(default_factory=dict)
    steps: int = 0

    def text(self):
        return "".join(f"{line.text}\n" for line in self.lines)

    def write(self, start, end, texts, *, recorded=True, whole=False):
        """Lines [start, end) become these, in the name of a new entry or of nobody."""
        self.steps += 1
        key = self.steps if recorded else None
        self.lines[start:end] = [Line(text, key) for text in texts]
        if recorded and texts:
            own = self.text() if whole else "".join(f"{text}\n" for text in texts)
            self.claims.append(Claim(key, start + 1, start + len(texts), sha(own), self.steps * HOUR))
            self.written[key] = list(texts)

    def reformat(self, start, end):
        self.steps += 1
        for line in self.lines[start:end]:
            line.text, line.reformatted = f"    {line.text}", True

    def commit(self):
        content = tuple(f"{line.text}\n".encode() for line in self.lines)
        parents = (len(self.versions) - 1,) if self.versions else ()
        self.versions.append(FileVersion(f"c{self.steps}", content, "a.py", parents, self.steps * HOUR))

    def traced(self, **how):
        return trace_history(self.versions, self.claims[::-1], **how)

    def found(self):
        return [
            (span.state, span.key)
            for span in self.traced().lineage.ranges
            for _ in range(span.start, span.end + 1)
        ]


def told(story):
    spans = story.traced().lineage.ranges
    return [(span.start, span.end, span.state, span.key) for span in spans]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["entry", "entry", "whole", "human", "format"]),
        st.integers(0, 30),
        st.integers(0, 4),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS)
def test_every_line_keeps_its_entry_through_any_edits_of_others(steps):
    story, number = Story(), 0
    for kind, wanted, gone, made in steps:
        start = min(wanted, len(story.lines))
        end = min(start + gone, len(story.lines))
        if kind == "format":
            story.reformat(start, end)
        else:
            texts = [f"value_{number + at} = call({number + at}, other)" for at in range(made)]
            number += made
            story.write(start, end, texts, recorded=kind != "human", whole=kind == "whole")
        story.commit()
    for line, (state, key) in zip(story.lines, story.found(), strict=True):
        assert key == line.writer, (line, state, key)
        assert (state == REFORMATTED) == (line.reformatted and line.writer is not None)
        assert (state == UNCLAIMED) == (line.writer is None)


@pytest.mark.deep
@settings(max_examples=150, deadline=None)
@given(
    steps=STEPS, words=st.lists(st.sampled_from(["a", "}", "", "  x = 1", "x = 1", "b()"]), min_size=60), commits=st.sets(st.integers(0, 12))
)  # fmt: skip
def test_nobody_is_credited_with_a_line_that_it_did_not_write(steps, words, commits):
    story, texts = Story(), iter(words * 10)
    for at, (kind, wanted, gone, made) in enumerate(steps):
        start = min(wanted, len(story.lines))
        end = min(start + gone, len(story.lines))
        if kind == "format":
            story.reformat(start, end)
        else:
            fresh = [next(texts) for _ in range(made)]
            story.write(start, end, fresh, recorded=kind != "human", whole=kind == "whole")
        if at in commits:
            story.commit()
    story.commit()
    spans = story.traced().lineage.ranges
    covered = [number for span in spans for number in range(span.start, span.end + 1)]
    assert covered == list(range(1, len(story.lines) + 1))
    for line, (_, key) in zip(story.lines, story.found(), strict=True):
        if key is not None:
            assert "".join(line.text.split()) in ["".join(text.split()) for text in story.written[key]]


def test_a_range_that_others_changed_keeps_the_lines_that_are_left_and_they_are_moved():
    story = Story()
    story.write(0, 0, ["one()", "two()", "three()"])
    story.commit()
    story.write(1, 2, ["deux()"], recorded=False)
    story.write(0, 0, ["# a comment"], recorded=False)
    story.commit()
    assert told(story) == [
        (1, 1, UNCLAIMED, None),
        (2, 2, MOVED, 1),
        (3, 3, UNCLAIMED, None),
        (4, 4, MOVED, 1),
    ]
    assert story.traced().lineage.changed == ()


def test_writing_a_whole_file_again_takes_no_line_from_those_who_wrote_it():
    story = Story()
    story.write(0, 0, ["one()"])
    story.commit()
    story.write(1, 1, ["two()"], recorded=False)
    story.commit()
    story.write(0, 2, ["one()", "two()", "three()"])
    story.commit()
    assert told(story) == [(1, 1, IN_PLACE, 1), (2, 2, UNCLAIMED, None), (3, 3, IN_PLACE, 3)]


def test_an_entry_that_was_recorded_after_all_commits_has_what_its_hash_proves_and_nobody_else_wrote():
    story = Story()
    story.write(0, 0, ["one()"], recorded=False)
    story.commit()
    story.write(1, 1, ["two()"])
    story.commit()
    late = Claim(99, 1, 2, sha("one()\ntwo()\n"), 1000 * HOUR)
    spans = trace_history(story.versions, [late, *story.claims]).lineage.ranges
    assert [(span.start, span.key) for span in spans] == [(1, 99), (2, 2)]


def test_a_commit_older_than_the_entry_still_proves_lines_that_changed_around_it():
    story = Story()
    story.write(0, 0, ["one()", "two()"])
    story.commit()
    story.write(1, 2, ["deux()"], recorded=False)
    story.commit()
    story.claims = [Claim(1, 1, 2, story_hash, 1000 * HOUR) for story_hash in [story.claims[0].content_hash]]
    assert told(story) == [(1, 1, IN_PLACE, 1), (2, 2, UNCLAIMED, None)]


def test_a_statement_that_a_formatter_broke_stays_its_entrys_and_says_who_did_it():
    story = Story()
    story.write(0, 0, ["call(first, second)", "x = 1"])
    story.commit()
    story.write(0, 1, ["call(", "    first,", "    second,", ")"])
    story.commit()
    spans = story.traced().lineage.ranges
    assert [(span.start, span.end, span.state, span.key, span.reformatted_by) for span in spans] == [
        (1, 4, REFORMATTED, 1, 2),
        (5, 5, MOVED, 1, None),
    ]
    assert story.versions[spans[0].version].revision == "c2"


def test_a_block_that_was_moved_keeps_its_entry_and_a_lone_bracket_does_not():
    story = Story()
    story.write(
        0, 0, ["def area(width):", "    return width * width", "}", "first = 1", "second = 2", "third = 3"]
    )
    story.commit()
    moved = [
        story.lines[3],
        story.lines[4],
        story.lines[5],
        Line("other()", None),
        *story.lines[:2],
        Line("}", None),
    ]
    story.lines = moved
    story.steps += 1
    story.commit()
    assert [key for _, key in story.found()] == [1, 1, 1, None, 1, 1, 1]
    story.lines = [Line("}", None), *story.lines[:6]]
    story.steps += 1
    story.commit()
    assert story.found()[0] == (UNCLAIMED, None)


def test_blank_lines_of_a_block_that_was_indented_are_what_they_were():
    story = Story()
    story.write(0, 0, [text for number in range(120) for text in (f"line_{number}()", "")])
    story.commit()
    story.steps += 1
    for line in story.lines:
        line.text = f"    {line.text}" if line.text else ""
    story.commit()
    assert {state for state, _ in story.found()[::2]} == {REFORMATTED}
    assert {state for state, _ in story.found()[1::2]} == {IN_PLACE}


def test_of_two_entries_that_are_right_the_first_has_the_line():
    story = Story()
    story.write(0, 0, ["one()", "two()"])
    story.commit()
    again = Claim(2, 2, 2, sha("two()"), HOUR)
    assert [span.key for span in trace_history(story.versions, [again, *story.claims]).lineage.ranges] == [
        1,
        2,
    ]
    assert [span.key for span in trace_history(story.versions, [*story.claims, again]).lineage.ranges] == [1]


def test_a_lone_bracket_is_not_found_in_another_place():
    story = Story()
    story.write(0, 0, ["one()"], recorded=False)
    story.commit()
    story.write(1, 1, ["}", "two()"], recorded=False)
    story.commit()
    spans = trace_history(story.versions, [Claim(7, 1, 1, sha("}"), 0)]).lineage
    assert [span.key for span in spans.ranges] == [None, None]
    assert spans.changed == (7,)


def test_both_sides_of_a_merge_keep_their_lines():
    story = Story()
    base = tuple(f"line_{number}()\n".encode() for number in range(6))
    ours, theirs = (b"ours()\n", *base), (*base, b"theirs()\n")
    versions = [
        FileVersion("base", base, "a.py", (), 0),
        FileVersion("ours", ours, "a.py", (0,), HOUR),
        FileVersion("theirs", theirs, "a.py", (0,), HOUR),
        FileVersion("merge", (b"ours()\n", *base, b"theirs()\n"), "a.py", (1, 2), 2 * HOUR),
    ]
    story.claims = [Claim(1, 1, 1, sha("ours()"), 60), Claim(2, 7, 7, sha("theirs()"), 60)]
    spans = trace_history(versions, story.claims).lineage.ranges
    assert [(span.start, span.state, span.key) for span in spans] == [
        (1, IN_PLACE, 1), (2, UNCLAIMED, None), (8, MOVED, 2),
    ]  # fmt: skip


def test_over_the_bound_lines_lose_their_entry_and_the_answer_says_so():
    story = Story()
    story.write(0, 0, [f"line_{number}()" for number in range(400)])
    story.commit()
    story.write(5, 6, ["new()"], recorded=False)
    story.write(300, 301, ["newer()"], recorded=False)
    story.commit()
    assert story.traced().is_complete
    short = story.traced(max_compared=100)
    assert not short.is_complete
    assert {span.key for span in short.lineage.ranges} == {None, 1}


def test_a_file_that_was_emptied_and_committed_is_still_as_recorded():
    versions = [FileVersion("c1", (b"a\n",), "a.py", (), HOUR), FileVersion("c2", (), "a.py", (0,), 2 * HOUR)]
    claims = [Claim(2, 1, 1, sha(""), 2 * HOUR), Claim(1, 1, 1, sha("a\n"), HOUR)]
    assert trace_history(versions, claims).lineage.changed == (1,)
