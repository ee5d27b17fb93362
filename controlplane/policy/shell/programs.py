"""All programs that the analysis knows, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controlplane.policy.shell.archives import ARCHIVES
from controlplane.policy.shell.git import GIT
from controlplane.policy.shell.partial import PARTIAL
from controlplane.policy.shell.readers import READERS
from controlplane.policy.shell.versions import VERSIONS
from controlplane.policy.shell.writers import WRITERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controlplane.policy.shell.call import Entry

PROGRAMS: Mapping[str, Entry] = {
    **VERSIONS,
    **READERS,
    **WRITERS,
    **ARCHIVES,
    **PARTIAL,
    "git": GIT,
}
SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")


def program_name(name: str) -> str:
    """`rm` for `/bin/rm`; a program of any other folder keeps its path, which no table holds."""
    folder, slash, last = name.rpartition("/")
    return last if folder + slash in SYSTEM_FOLDERS else name
