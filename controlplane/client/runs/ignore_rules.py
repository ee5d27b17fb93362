"""Find the files of a repository that `.intentignore` patterns name, so that a view can hide them.

The patterns are gitignore rules (https://git-scm.com/docs/gitignore) and come from the gate. They are matched
here, without git, because git would read the configuration of a repository that an agent may have written.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence


class IgnoreRules:
    """Ordered gitignore rules; the last one that matches decides."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.rules = [rule for pattern in patterns if (rule := parse_rule(pattern)) is not None]

    def matches(self, path: str, *, is_folder: bool) -> bool:
        for expression, excludes, folders_only in reversed(self.rules):
            if (is_folder or not folders_only) and expression.match(path):
                return not excludes
        return False


def parse_rule(line: str) -> tuple[re.Pattern[str], bool, bool] | None:
    """Return (expression, whether it excludes, whether for folders only); None for a comment or a blank."""
    import re

    pattern = re.sub(r"(?<!\\) +$", "", line.rstrip("\r\n"))
    if not pattern or pattern.startswith("#"):
        return None
    excludes = pattern.startswith("!")
    pattern = pattern[1:] if excludes else pattern
    folders_only = pattern.endswith("/")
    pattern = pattern.rstrip("/") if folders_only else pattern
    anchored = "/" in pattern
    expression = "".join(_translate(pattern.lstrip("/")))
    # Without case, as names are compared where a file may be reached by another spelling.
    return (
        re.compile(f"{'' if anchored else '(?:.*/)?'}{expression}\\Z", re.IGNORECASE | re.DOTALL),
        excludes,
        folders_only,
    )


def _translate(pattern: str) -> Iterator[str]:
    """Yield the parts of a regular expression."""
    import re

    position = 0
    while position < len(pattern):
        rest = pattern[position:]
        if rest.startswith("**/") and (position == 0 or pattern[position - 1] == "/"):
            yield "(?:.*/)?"
            position += 3
        elif rest == "**" and position and pattern[position - 1] == "/":
            yield ".+"
            position += 2
        elif rest[0] == "*":
            yield "[^/]*"
            position += len(rest) - len(rest.lstrip("*"))
        elif rest[0] == "?":
            yield "[^/]"
            position += 1
        elif rest[0] == "[" and (match := re.match(r"\[([!^]?)(\]?[^]]*)\]", rest)):
            inside = match[2].replace("\\", r"\\").replace("[", r"\[")
            yield f"(?!/)[{'^' if match[1] else ''}{inside}]"
            position += len(match[0])
        elif rest[0] == "\\" and len(rest) > 1:
            yield re.escape(rest[1])
            position += 2
        else:
            yield re.escape(rest[0])
            position += 1


def list_ignored(root: str, rules: IgnoreRules) -> Iterator[str]:
    """Yield the paths below `root` that the rules ignore; an ignored folder stands for all in it."""
    if rules.rules:
        yield from _walk_folder(root, "", rules)


def _walk_folder(root: str, directory: str, rules: IgnoreRules) -> Iterator[str]:
    try:
        with os.scandir(os.path.join(root, directory)) as entries:
            names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return  # unreadable here is unreadable in the view
    for name, is_directory in names:
        path = f"{directory}/{name}" if directory else name
        if rules.matches(path, is_folder=is_directory):
            yield path
        elif is_directory and name != ".git":
            yield from _walk_folder(root, path, rules)
