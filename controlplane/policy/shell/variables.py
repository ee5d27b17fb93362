"""Variables that a command may set or export without changing what programs do."""

from __future__ import annotations

import re

from controlplane.policy.effects import Effect
from controlplane.policy.shell.result import Span, UnclearCommandError

LOWER = re.compile(r"[a-z_][a-z0-9_]*")
# Lower-case names that a shell or a program reads (zsh ties path to PATH).
READ_LOWER_CASE = frozenset(
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
# Names that choose language, time zone and colours, or tell that no terminal is there.
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
# Upper-case names that no common program reads.
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
        "ACTUAL",
        "AFTER",
        "BEFORE",
        "BODY",
        "CHANGED",
        "CONTENT",
        "CONTENTS",
        "CURRENT",
        "ELAPSED",
        "EXPECTED",
        "FIRST",
        "FOUND",
        "ISSUE",
        "ITEM",
        "ITEMS",
        "JOB",
        "LAST",
        "LATEST",
        "MISSING",
        "NEW",
        "OLD",
        "OTP",
        "PR",
        "PREVIOUS",
        "RESP",
        "RUN",
        "TITLE",
    ]
)


# Counts and results of a script's own: no program reads such a name. The settings of git have a count too.
OWN_NAME = re.compile(
    r"(?!GIT_)[A-Z][A-Z0-9]*_(?:COUNT|NUMBER|RESULT|RESPONSE|OUTPUT|SHA|LINES|TOTAL|STATUS)"
)
OWN_ID = re.compile(r"(?:APP|API|BACKEND|DEV|FRONTEND|ISSUE|JOB|PR|RUN|SERVER|TASK|TEST|WEB)_(?:ID|PID|NUM)")
NUMBERED = re.compile(r"([A-Z]{2,})\d+")  # CONTENT2
# What a program logs, and numbers of its settings: the name says all that a person has to know.
LOGGING = re.compile(r"RUST_LOG|RUST_BACKTRACE|DEBUG|VERBOSE|LOGLEVEL|(?:[A-Z]+_)?LOG_LEVEL")
NUMERIC_SETTING = re.compile(r"(?!GIT_)[A-Z][A-Z0-9_]*_(?:PORT|TIMEOUT)|PGPORT")
# Where the program of a workspace finds its services. For tools it would be where code comes from.
ADDRESS_SETTING = re.compile(
    r"(?:API|APP|AUTH|BACKEND|BASE|CACHE|CORS|DATABASE|DB|E2E|FRONTEND|IPFS|KAFKA|MONGO|MONGODB|MYSQL|POSTGRES|RABBITMQ"
    r"|REDIS|SERVER|SERVICE|SITE|SMTP|TEST|VITE|WEB|NEXT_PUBLIC)_(?:[A-Z0-9]+_)*(?:HOST|ORIGINS?|URI|URL)|PGHOST"
)
ADDRESS = re.compile(r"[A-Za-z0-9][\w./,-]*(?::(?!:)[\w./,-]*)*")  # without a password
MAX_ADDRESS = 120
SETS = "sets {}, which the program may listen to"
# Programs run the value of these; `cat` and the empty value turn the pager off.
PAGERS = frozenset({"PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER"})
NO_PAGER = ("", "cat")


def is_quiet(name: str) -> bool:
    """Return whether even programs of the workspace, such as make, behave the same whatever its value."""
    return name in QUIET or name in PAGERS


def is_harmless(name: str, value: object) -> bool:
    """Return whether programs behave the same with the variable set to this value (None: not known)."""
    return is_inert(name) or (name in PAGERS and value in NO_PAGER)


def find_setting(name: str, value: str | None) -> tuple[str, Effect] | None:
    """Return kind and effect of `NAME=value` in front of a command, where it is known and no code for anyone.

    An address is part of the kind: what a person has approved is not another server.
    """
    if value is None:
        return None
    if LOGGING.fullmatch(name) or (NUMERIC_SETTING.fullmatch(name) and value.isdecimal()):
        return f"set {name}", Effect.RUNS_PROJECT
    is_address = len(value) <= MAX_ADDRESS and ADDRESS.fullmatch(value) is not None
    is_address &= ADDRESS_SETTING.fullmatch(name) is not None
    return (f"set {name}={value}", Effect.RUNS_CODE) if is_address else None


def is_inert(name: str) -> bool:
    """Return whether no program is known to read a variable."""
    if OWN_NAME.fullmatch(name) or OWN_ID.fullmatch(name):
        return True
    numbered = NUMBERED.fullmatch(name)
    return (
        name in INERT
        or (numbered is not None and numbered[1] in INERT - QUIET)
        or (LOWER.fullmatch(name) is not None and name not in READ_LOWER_CASE and not name.startswith("npm_"))
    )


def check_inert(name: str, span: Span) -> None:
    """Raise UnclearCommandError for a variable that may change what a program does."""
    if not is_inert(name):
        raise UnclearCommandError(f"the variable {name} may change what programs do", span)
