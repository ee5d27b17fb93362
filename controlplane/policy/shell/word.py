"""One argument of a command, as bash would pass it to a program."""

from __future__ import annotations

from dataclasses import dataclass, replace

PIPE = "/dev/fd/63"  # what bash passes for <(…) and >(…)


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
    wild: bool = False
    tilde: bool = False
    many: bool = False
    listed: bool = False
    carried: bool = False

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end

    def tail(self, count: int) -> Word:
        """The word without its first `count` characters, an option's attached value."""
        value = None if self.value is None else self.value[count:]
        return Word(value, self.prefix[count:], self.start, self.end, self.wild, many=self.many)


def name_of_some_file(word: Word) -> Word:
    """What stands for a name that only running tells, where all that it can be is looked at anyway."""
    return replace(word, value=PIPE, prefix=PIPE, wild=False, tilde=False, listed=True)
