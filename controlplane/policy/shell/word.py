"""One argument of a command, as bash would pass it to a program."""

from __future__ import annotations

from dataclasses import dataclass, replace

PIPE_PATH = "/dev/fd/63"  # what bash passes for <(…) and >(…)


@dataclass(frozen=True, slots=True)
class Word:
    """One argument. `value` is None when only running can tell it; `prefix` is what stands for
    certain in front. `wild` means that bash would match it against file names, or has done so for a
    variable in it (`carried`), `many` that it may become any number of words, `listed` that it is a
    name, or names, of files that were looked through. Span in bytes."""

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
        """The word without its first `count` characters, an option's attached value."""
        value = None if self.value is None else self.value[count:]
        return Word(
            value, self.prefix[count:], self.start, self.end, self.has_wildcard, may_split=self.may_split
        )


def to_any_file_name(word: Word) -> Word:
    """What stands for a name that only running tells, where all that it can be is looked at anyway."""
    return replace(
        word, value=PIPE_PATH, prefix=PIPE_PATH, has_wildcard=False, has_tilde=False, is_file_name=True
    )
