"""Arguments and environment for running git in a repository that agents can write to.

The repository's configuration is as hostile as its files. It must not make git run a program (hooks, file
monitors, filters, pagers, signatures, fetch helpers), connect to another machine, or show a history other
than the objects' own. Settings on the command line win over the repository's. System and user settings are
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
