"""One argument of a command, as bash would pass it to a program."""

from __future__ import annotations

from dataclasses import dataclass, replace

PIPE_PATH = "/dev/fd/63"  # what bash passes for <(…) and >(…)


@dataclass(frozen=True, slots=True)
class Word:
    """One argument of a command.

    `value` is None where only running the command tells it; `prefix` is the part in front that is certain.
    `has_wildcard`: bash matches it against file names, or has done so for a variable in it (`from_variable`).
    `may_split`: it may become no word, or several. `is_file_name`: it stands for one or more names of files
    that are recorded as read. `start` and `end` are byte offsets.
    """

    value: str | None
    prefix: str
    start: int
    end: int
    has_wildcard: bool = False
    has_tilde: bool = False
    may_split: bool = False
    is_file_name: bool = False
    from_variable: bool = False

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end

    def tail(self, count: int) -> Word:
        """Return the word without its first `count` characters: the value attached to an option."""
        value = None if self.value is None else self.value[count:]
        return Word(
            value, self.prefix[count:], self.start, self.end, self.has_wildcard, may_split=self.may_split
        )


def to_any_file_name(word: Word) -> Word:
    """Return a placeholder for the name of a file that is not known but recorded as read already."""
    return replace(
        word, value=PIPE_PATH, prefix=PIPE_PATH, has_wildcard=False, has_tilde=False, is_file_name=True
    )
