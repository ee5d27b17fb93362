"""The files of a range of commits, as git describes their change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

LINK_MODE, EXECUTABLE_MODE = "120000", "100755"  # as git writes them


@dataclass(frozen=True, slots=True)
class DiffEntry:
    """One file of `git diff --raw`. `content_hash` is None where it has no content now (deleted, submodule).

    `old_content_hash` is that of the content before, under its old name; None where there was none or the
    client does not send it. `committed_at` is when the range committed it last, where the client knows.

    `readable` is False for a name that is not UTF-8, which cannot be compared with anything. The modes are
    empty where the client does not send them.
    """

    path: str
    status: str = "M"
    content_hash: str | None = None
    old_path: str = ""
    mode_only: bool = False
    readable: bool = True
    old_mode: str = ""
    new_mode: str = ""
    old_content_hash: str | None = None
    committed_at: datetime | None = None

    @property
    def is_type_changed(self) -> bool:
        """Whether it is a symbolic link now or was one: no trace of a text makes that."""
        return LINK_MODE in {self.old_mode, self.new_mode} and self.content_hash is not None

    @property
    def is_mode_changed(self) -> bool:
        """Whether it can be executed now and could not before, or the other way round."""
        return self.mode_only or (self.new_mode != "" and self._is_executable() != self._was_executable())

    def _is_executable(self) -> bool:
        return self.new_mode == EXECUTABLE_MODE

    def _was_executable(self) -> bool:
        return self.old_mode == EXECUTABLE_MODE and self.content_hash is not None


@dataclass(frozen=True, slots=True)
class DiffRange:
    """Two commits and the files between them. With a session or an intent, only its traces count."""

    base: str
    head: str
    files: tuple[DiffEntry, ...]
    session_id: str = ""
    intent_id: str = ""
