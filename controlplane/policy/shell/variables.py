"""Variables that a command may set or export without changing what programs do."""

from __future__ import annotations

import re

from controlplane.policy.effects import Effect
from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.table.load import load_table

LOWER = re.compile(r"[a-z_][a-z0-9_]*")
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
NO_PAGER = ("", "cat")


def is_quiet(name: str) -> bool:
    """Return whether even programs of the workspace, such as make, behave the same whatever its value."""
    words = load_table().words
    return name in words["quiet_variables"] or name in words["pager_variables"]


def is_harmless(name: str, value: object) -> bool:
    """Return whether programs behave the same with the variable set to this value (None: not known)."""
    return is_inert(name) or (name in load_table().words["pager_variables"] and value in NO_PAGER)


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
    words, numbered = load_table().words, NUMBERED.fullmatch(name)
    if name in words["quiet_variables"] or (numbered[1] if numbered else name) in words["inert_variables"]:
        return True
    is_lower = LOWER.fullmatch(name) is not None and not name.startswith("npm_")
    return is_lower and name not in words["lower_case_variables"]


def check_inert(name: str, span: Span) -> None:
    """Raise UnclearCommandError for a variable that may change what a program does."""
    if not is_inert(name):
        raise UnclearCommandError(f"the variable {name} may change what programs do", span)
