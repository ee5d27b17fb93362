"""Programs that print only names of files that they have looked through, or that filter such names.

The arguments are compared as they are written: another spelling of the same option does not match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from controlplane.policy.shell.state import StreamContent

Words = Sequence[str]
PARENT_SEGMENT = re.compile(r"(?:^|/)\.\.(?:/|$)")
FD_NAMES = ("fd", "fdfind")
NUL_OPTIONS = frozenset({"-print0", "-fprint0", "--print0", "--null", "--null-data", r"\0"})
SHORT_NUL_OPTIONS = re.compile(r"-[A-Za-z0-9]*[zZ0].*")
NUMBER_OPTION = re.compile(r"-[A-Ya-y]?[1-9]\d*")  # `head -20`; but `fd -10` is `fd -1 -0`
OTHER_OUTPUT = frozenset({"-printf", "-fprintf", "-ls", "-fls", "-exec", "-execdir", "-ok", "-okdir"})
LONG_LISTING = re.compile(r"-[A-Za-z0-9]*l.*|--(list-details|format).*")
# Without -a, which prints `..`: a reader would leave the directory through it.
LS_ARGUMENTS = re.compile(r"-[1AdFprRStUX]+|--almost-all|--reverse|--recursive|--directory|[^-].*")
# With these, more than names is printed, such as lines of the files.
PRINTS_MORE = re.compile(r"--(json|stats|type-list|count|count-matches|label.*)|-[A-Za-z0-9]*c[A-Za-z0-9]*")
LISTS_MATCHES = {
    name: re.compile(rf"-[{flags}]*[{lists}][{flags}]*|--files-with-matches|--files-without-match|{more}")
    for name, flags, lists, more in (
        ("grep", "ivwxEFGPrRHnsIzZ", "lL", "--name-only"),
        ("rg", "ivwxnsSFUuHI0", "l", "--files"),
    )
}
GIT_DIFF = re.compile(r"--(name-only|cached|staged|relative|diff-filter=\w+|merge-base)|-z|--|[^-].*")
OPTIONS_WITH_VALUE = {"rg": "efABCmgtTjMdrE", "grep": "efABCmdD"}
HEAD_OPTIONS = re.compile(r"(?:-n ?[+-]?\d+|-\d+)?")
SORT_OPTIONS = re.compile(r"(?:(?:-[bdfghiMnRrVuz]+|-k ?[\d,.nr]+)(?: |$))*")
UNIQ_OPTIONS = re.compile(r"(?:-[diu]+)?")
GREP_FILTER_OPTIONS = re.compile(r"-[viEFGPwx]+")
XARGS_OPTIONS = re.compile(r"-[0rt]+|-[nPL]\d*|\d+")


def classify_output(words: Words, stdin: StreamContent) -> StreamContent:
    """Return what a program prints, given its words without quotes and what it reads on standard input."""
    name, *args = words
    if any(PARENT_SEGMENT.search(arg) for arg in args):
        return StreamContent.ANYTHING  # from another directory such names lead elsewhere
    if name == "xargs" and stdin is not StreamContent.ANYTHING:
        while args and XARGS_OPTIONS.fullmatch(args[0]):
            args.pop(0)
        if not args or args[0] not in NAME_PRINTERS:
            return StreamContent.ANYTHING
        return classify_output(args, StreamContent.ANYTHING)
    if name in NAME_PRINTERS and NAME_PRINTERS[name](args):
        content = StreamContent.NAMES_BY_LINE
    elif name in NAME_FILTERS and NAME_FILTERS[name](args):
        content = stdin
    else:
        content = StreamContent.ANYTHING
    numbers = () if name in FD_NAMES else [arg for arg in args if NUMBER_OPTION.fullmatch(arg)]
    nul_options = [
        arg for arg in args if name != "find" and arg not in numbers and SHORT_NUL_OPTIONS.fullmatch(arg)
    ]
    ends_in_nul = bool(nul_options) or not NUL_OPTIONS.isdisjoint(args)
    return StreamContent.NAMES_BY_NUL if ends_in_nul and content is StreamContent.NAMES_BY_LINE else content


def _all_match(pattern: re.Pattern[str]) -> Callable[[Words], bool]:
    return lambda args: all(pattern.fullmatch(arg) for arg in args)


def _options_match(pattern: re.Pattern[str]) -> Callable[[Words], bool]:
    """Build a test that all arguments are known options: an operand would be a file to print."""
    return lambda args: pattern.fullmatch(" ".join(args)) is not None


def _lists_matches(name: str) -> Callable[[Words], bool]:
    """Build a test for `grep -l`, where `-l` is an option for certain and not a value."""

    def lists_names(args: Words) -> bool:
        if any(PRINTS_MORE.fullmatch(arg) for arg in args):
            return False
        for index, arg in enumerate(args):
            previous = args[index - 1] if index else ""
            is_value = previous.startswith("--") or (
                previous[:1] == "-" and previous[-1] in OPTIONS_WITH_VALUE[name]
            )
            if LISTS_MATCHES[name].fullmatch(arg):
                return not (is_value or "--" in args[:index])
        return False

    return lists_names


def _is_git_listing(args: Words) -> bool:
    args = [arg for arg in args if arg not in ("--no-pager", "-P")]
    first, arguments = (args[0] if args else ""), args[1:]
    if first in ("diff", "diff-tree"):
        return "--name-only" in arguments and _all_match(GIT_DIFF)(arguments)
    if first == "grep":
        return _lists_matches("grep")(arguments)
    plain = not any(arg.startswith(("--format", "--eol")) for arg in arguments)
    return plain and (first == "ls-files" or (first == "ls-tree" and "--name-only" in arguments))


def _is_grep_filter(args: Words) -> bool:
    """Return whether grep filters standard input: with a file it would print the text of that file."""
    return sum(not GREP_FILTER_OPTIONS.fullmatch(arg) for arg in args) == 1 and not args[-1].startswith("-")


NAME_PRINTERS: Mapping[str, Callable[[Words], bool]] = {
    "find": OTHER_OUTPUT.isdisjoint,
    **dict.fromkeys(FD_NAMES, lambda args: not any(LONG_LISTING.fullmatch(arg) for arg in args)),
    "ls": _all_match(LS_ARGUMENTS),
    "rg": _lists_matches("rg"),
    **dict.fromkeys(("grep", "egrep", "fgrep"), _lists_matches("grep")),
    "git": _is_git_listing,
}
NAME_FILTERS: Mapping[str, Callable[[Words], bool]] = {
    **dict.fromkeys(("head", "tail"), _options_match(HEAD_OPTIONS)),
    "sort": _options_match(SORT_OPTIONS),
    "uniq": _options_match(UNIQ_OPTIONS),
    "cat": _options_match(re.compile("-?")),
    **dict.fromkeys(("grep", "egrep", "fgrep"), _is_grep_filter),
    "tr": lambda args: list(args) in ([r"\n", r"\0"], [r"\n", " "]),
}
