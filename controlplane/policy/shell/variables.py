"""Which variables may be set without changing what later programs do."""

from __future__ import annotations

import re

from controlplane.policy.shell.result import Span, UnclearCommandError

LOWER = re.compile(r"[a-z_][a-z0-9_]*")
# Lower-case names that a shell or a program listens to (zsh ties path to PATH).
SPECIAL_LOWER_CASE = frozenset(
    [
        "path",
        "cdpath",
        "fpath",
        "manpath",
        "module_path",
        "mailpath",
        "prompt",
        "histchars",
        "argv",
        "status",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "ftp_proxy",
        "auto_resume",
        "_",
    ]
)
# What only chooses language, time zone and colours, or says that nobody watches.
QUIET = frozenset(
    [
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_COLLATE",
        "LC_CTYPE",
        "LC_MESSAGES",
        "LC_NUMERIC",
        "LC_TIME",
        "TZ",
        "TERM",
        "COLUMNS",
        "LINES",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "CI",
        "NODE_ENV",
        "RAILS_ENV",
        "GIT_OPTIONAL_LOCKS",
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
        "GIT_TERMINAL_PROMPT",
    ]
)
# Upper-case names that nothing listens to besides.
INERT = QUIET | frozenset(
    [
        "A",
        "B",
        "C",
        "D",
        "F",
        "FILE",
        "FILES",
        "DIR",
        "DIRS",
        "FOLDER",
        "OUT",
        "OUTPUT",
        "IN",
        "INPUT",
        "SRC",
        "SOURCE",
        "DST",
        "DEST",
        "DESTINATION",
        "TARGET",
        "NAME",
        "NAMES",
        "MSG",
        "MESSAGE",
        "TEXT",
        "BASE",
        "ROOT",
        "REPO",
        "BRANCH",
        "COUNT",
        "COUNTER",
        "TOTAL",
        "RESULT",
        "I",
        "J",
        "K",
        "N",
        "X",
        "Y",
        "Z",
        "VERSION",
        "TAG",
        "DATE",
        "NOW",
        "REPLY",
        "PORT",
        "PID",
        "URL",
        "ID",
        "KEY",
        "VALUE",
        "LINE",
        "START",
        "END",
        "SIZE",
        "MAX",
        "MIN",
        "SUM",
        "PATTERN",
        "QUERY",
        "RESPONSE",
        "STATUS",
        "CODE",
        "EXIT_CODE",
        "RC",
        "COMMIT",
        "SHA",
        "HASH",
        "FILENAME",
        "FILEPATH",
        "OUTFILE",
        "INFILE",
        "LOGFILE",
        "PROJECT",
        "APP",
    ]
)


# Programs run what these name; naming `cat`, or nothing, is how a pager is kept away.
PAGERS = frozenset({"PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER"})
NO_PAGER = ("", "cat")


def is_quiet(name: str) -> bool:
    """Whether even a program of the workspace does the same with it: make, say, runs what any other holds."""
    return name in QUIET or name in PAGERS


def is_harmless(name: str, value: object) -> bool:
    """Whether programs do the same with the variable set to this value; None: it is not known."""
    return is_inert(name) or (name in PAGERS and value in NO_PAGER)


def is_inert(name: str) -> bool:
    return name in INERT or (
        LOWER.fullmatch(name) is not None and name not in SPECIAL_LOWER_CASE and not name.startswith("npm_")
    )


def check_inert(name: str, span: Span) -> None:
    """Raises UnclearError for a variable that may change what a program does."""
    if not is_inert(name):
        raise UnclearCommandError(f"programs may listen to the variable {name}", span)
