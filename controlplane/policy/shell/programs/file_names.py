"""Programs that print names of files which they have looked through, or that select from such names.

The words are compared as they are written; what is spelled in another way is not believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from controlplane.policy.shell.state import StreamContent

Words = Sequence[str]
STEPS_UP = re.compile(r"(?:^|/)\.\.(?:/|$)")
FD = ("fd", "fdfind")
NULS = frozenset({"-print0", "-fprint0", "--print0", "--null", "--null-data", r"\0"})
SHORT_NULS = re.compile(r"-[A-Za-z0-9]*[zZ0].*")
NUMBERED = re.compile(r"-[A-Ya-y]?[1-9]\d*")  # `head -20`; but `fd -10` is `fd -1 -0`
OTHER_OUTPUT = frozenset({"-printf", "-fprintf", "-ls", "-fls", "-exec", "-execdir", "-ok", "-okdir"})
LONG_LISTING = re.compile(r"-[A-Za-z0-9]*l.*|--(list-details|format).*")
# Without -a, which prints `..`: a reader that looks below what it is given would leave the folder.
LS = re.compile(r"-[1AdFprRStUX]+|--almost-all|--reverse|--recursive|--directory|[^-].*")
# More than names comes out of these, lines of the files among it.
MORE = re.compile(r"--(json|stats|type-list|count|count-matches|label.*)|-[A-Za-z0-9]*c[A-Za-z0-9]*")
MATCHES = {
    name: re.compile(rf"-[{flags}]*[{lists}][{flags}]*|--files-with-matches|--files-without-match|{more}")
    for name, flags, lists, more in (
        ("grep", "ivwxEFGPrRHnsIzZ", "lL", "--name-only"),
        ("rg", "ivwxnsSFUuHI0", "l", "--files"),
    )
}
GIT_DIFF = re.compile(r"--(name-only|cached|staged|relative|diff-filter=\w+|merge-base)|-z|--|[^-].*")
VALUED = {"rg": "efABCmgtTjMdrE", "grep": "efABCmdD"}
CUTTING = re.compile(r"(?:-n ?[+-]?\d+|-\d+)?")
SORTING = re.compile(r"(?:(?:-[bdfghiMnRrVuz]+|-k ?[\d,.nr]+)(?: |$))*")
FOLDING = re.compile(r"(?:-[diu]+)?")
PICKING = re.compile(r"-[viEFGPwx]+")
PASSED_ON = re.compile(r"-[0rt]+|-[nPL]\d*|\d+")


def classify_output(words: Words, fed: StreamContent) -> StreamContent:
    name, *args = words
    if any(STEPS_UP.search(arg) for arg in args):
        return StreamContent.ANYTHING  # such names lead elsewhere from another folder
    if name == "xargs" and fed is not StreamContent.ANYTHING:
        while args and PASSED_ON.fullmatch(args[0]):
            args.pop(0)
        return (
            classify_output(args, StreamContent.ANYTHING)
            if args and args[0] in NAME_PRINTERS
            else StreamContent.ANYTHING
        )
    found = (
        StreamContent.NAMES_BY_LINE
        if name in NAME_PRINTERS and NAME_PRINTERS[name](args)
        else StreamContent.ANYTHING
    )
    if found is StreamContent.ANYTHING and name in NAME_FILTERS and NAME_FILTERS[name](args):
        found = fed
    counted = () if name in FD else [arg for arg in args if NUMBERED.fullmatch(arg)]
    shorts = [arg for arg in args if name != "find" and arg not in counted and SHORT_NULS.fullmatch(arg)]
    ends_in_nul = bool(shorts) or not NULS.isdisjoint(args)
    return StreamContent.NAMES_BY_NUL if ends_in_nul and found is StreamContent.NAMES_BY_LINE else found


def _all_match(known: re.Pattern[str]) -> Callable[[Words], bool]:
    return lambda args: all(known.fullmatch(arg) for arg in args)


def _options_match(known: re.Pattern[str]) -> Callable[[Words], bool]:
    """These options and no operand, for that would be a file."""
    return lambda args: known.fullmatch(" ".join(args)) is not None


def _lists_matches(name: str) -> Callable[[Words], bool]:
    """`grep -l`, where that is an option for certain."""

    def judge(args: Words) -> bool:
        if any(MORE.fullmatch(arg) for arg in args):
            return False
        for at, arg in enumerate(args):
            before = args[at - 1] if at else ""
            is_value = before.startswith("--") or (before[:1] == "-" and before[-1] in VALUED[name])
            if MATCHES[name].fullmatch(arg):
                return not (is_value or "--" in args[:at])
        return False

    return judge


def _is_git_listing(args: Words) -> bool:
    args = [arg for arg in args if arg not in ("--no-pager", "-P")]
    first, rest = (args[0] if args else ""), args[1:]
    if first in ("diff", "diff-tree"):
        return "--name-only" in rest and _all_match(GIT_DIFF)(rest)
    if first == "grep":
        return _lists_matches("grep")(rest)
    plain = not any(arg.startswith(("--format", "--eol")) for arg in rest)
    return plain and (first == "ls-files" or (first == "ls-tree" and "--name-only" in rest))


def _is_grep_filter(args: Words) -> bool:
    """`grep -v x`, of what comes in: with a file it would print what is in there."""
    return sum(not PICKING.fullmatch(arg) for arg in args) == 1 and not args[-1].startswith("-")


NAME_PRINTERS: Mapping[str, Callable[[Words], bool]] = {
    "find": OTHER_OUTPUT.isdisjoint,
    **dict.fromkeys(FD, lambda args: not any(LONG_LISTING.fullmatch(arg) for arg in args)),
    "ls": _all_match(LS),
    "rg": _lists_matches("rg"),
    **dict.fromkeys(("grep", "egrep", "fgrep"), _lists_matches("grep")),
    "git": _is_git_listing,
}
NAME_FILTERS: Mapping[str, Callable[[Words], bool]] = {
    **dict.fromkeys(("head", "tail"), _options_match(CUTTING)),
    "sort": _options_match(SORTING),
    "uniq": _options_match(FOLDING),
    "cat": _options_match(re.compile("-?")),
    **dict.fromkeys(("grep", "egrep", "fgrep"), _is_grep_filter),
    "tr": lambda args: list(args) in ([r"\n", r"\0"], [r"\n", " "]),
}
