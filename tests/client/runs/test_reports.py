"""What the client says of changes, and a copy that is cut short: no walls are needed for these."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from controlplane.client.runs.changes import Change, list_changes
from controlplane.client.runs.landing import land_changes
from controlplane.client.runs.report import describe_changes, is_landable
from sessions.runs.texts import check_texts, hash_text

LONG_AGO = 0  # a file system's time: all files are newer
NEVER = 1 << 62


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A repository and the upper layer of a view of it."""
    lower, upper = tmp_path / "lower", tmp_path / "upper"
    lower.mkdir()
    upper.mkdir()
    return lower, upper


def describe(folders: tuple[Path, Path], since: int = NEVER) -> list[dict[str, Any]]:
    lower, upper = map(str, folders)
    changes = [change for change in list_changes(lower, upper, since) if is_landable(change)]
    return describe_changes(lower, changes, set())


def test_a_file_that_was_changed_below_is_stale_and_has_no_texts(folders: tuple[Path, Path]) -> None:
    for folder, text in zip(folders, ("theirs\n", "ours\n"), strict=True):
        (folder / "a.py").write_text(text)
    (row,) = describe(folders, LONG_AGO)
    assert row["stale"] is True
    assert {"diff", "content"}.isdisjoint(row)
    (row,) = describe(folders)
    assert "stale" not in row
    assert row["content"] == "ours\n"


def test_the_mode_of_an_executable_is_told(folders: tuple[Path, Path]) -> None:
    for name, mode in {"run.sh": 0o755, "notes.md": 0o644}.items():
        (folders[1] / name).write_text("x\n")
        (folders[1] / name).chmod(mode)
    assert {row["path"]: row.get("mode") for row in describe(folders)} == {"run.sh": "755", "notes.md": None}


@pytest.mark.parametrize("sign", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_a_diff_proves_its_hashes_whatever_signs_stand_in_a_line(
    folders: tuple[Path, Path], sign: str
) -> None:
    before, after = f"one{sign}two\nthree{sign}", f"one{sign}2\nthree{sign}{sign}four"
    for folder, text in zip(folders, (before, after), strict=True):
        (folder / "two\nlines.txt").write_bytes(text.encode())
    (row,) = describe(folders)
    texts = check_texts(row)
    assert texts is not None, row["diff"]
    assert texts.before == before


def test_a_deleted_special_file_is_not_reported() -> None:
    gone = Change("pipe", "deleted", None, None, 0, 0, None, None, stale=False)
    assert not is_landable(gone)


@pytest.mark.parametrize("rest", [b"", b"half"])
def test_a_file_that_is_cut_off_while_it_is_copied_does_not_land(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, rest: bytes
) -> None:
    source = folders[1] / "a.txt"
    source.write_text("half and half")
    (change,) = list_changes(*map(str, folders), NEVER)
    send = os.sendfile

    def cut_off(writer: int, reader: int, start: int, count: int) -> int:
        source.write_bytes(rest)
        return send(writer, reader, start, count)

    monkeypatch.setattr(os, "sendfile", cut_off)
    landing = land_changes(str(folders[0]), [change])
    assert landing.landed == []
    assert landing.refused == {"a.txt": "it was cut off while it was copied"}
    assert list(folders[0].iterdir()) == []


def test_a_copy_that_sends_nothing_ends(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    (folders[1] / "a.txt").write_text("text")
    (change,) = list_changes(*map(str, folders), NEVER)
    monkeypatch.setattr(os, "sendfile", lambda *_: 0)
    assert land_changes(str(folders[0]), [change]).landed == []
    assert change.after == hash_text("text")
