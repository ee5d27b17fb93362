"""How git is called in a repository that agents write to as well.

Its configuration is as hostile as its files: nothing of it may have git run a program (hooks, file monitors,
filters, pagers, signatures, helpers that fetch), reach another machine, or show another history than the
objects tell. Settings on the command line win over the repository's own; those of the system and the user are
not read.
"""

from __future__ import annotations

import os

SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "diff.renameLimit=400",
    "log.follow=false",
    "log.mailmap=false",
    "log.showSignature=false",
    "protocol.allow=never",  # a setting of the repository for one protocol would win: see GIT_ALLOW_PROTOCOL
    "safe.directory=*",
)
GIT = ("git", *(word for setting in SETTINGS for word in ("-c", setting)))


def git_environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": "",  # a missing object could be fetched by a program that the repository names
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
