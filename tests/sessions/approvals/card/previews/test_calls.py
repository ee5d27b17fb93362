"""Deletions, moves, unknown tools and ambiguous inputs as a card shows them."""

from __future__ import annotations

import pytest

from tests.sessions.approvals.card.previews.builders import asked, changed, drawn


def test_a_deletion_shows_what_is_lost_or_says_that_it_cannot(disk, remote):
    here = drawn(disk, asked("delete_file", {"path": "src/a.txt"}, "src/a.txt", op="delete"))
    assert (here.complete, here.removed) == (True, 5)
    away = drawn(remote, asked("delete_file", {"path": "src/a.txt"}, "src/a.txt", op="delete"))
    assert not away.complete


def test_a_folder_that_is_deleted_lists_its_files(disk, remote):
    target = {"path": "src", "op": "delete", "recursive": True}
    here = drawn(disk, asked("delete_directory", {"path": "src"}, target))
    assert [file.path for file in here.files] == ["src/a.txt"]
    assert "1 file would be deleted" in here.sentence
    away = drawn(remote, asked("delete_directory", {"path": "src"}, target))
    assert "not on this server" in away.sentence
    assert not here.complete
    assert not away.complete


def test_a_move_says_where_to_and_what_it_would_overwrite(disk):
    source = {"path": "src/a.txt", "op": "move", "recursive": False}
    moved = drawn(disk, asked("move_file", {"source": "src/a.txt", "destination": "b"}, source, "src/b.txt"))
    assert (moved.complete, moved.files[0].note) == (True, "moved to src/b.txt")
    over = drawn(disk, asked("move_file", {"source": "x", "destination": "b"}, source, "src/a.txt"))
    assert not over.complete
    assert "overwritten" in over.sentence


def test_a_new_folder_is_no_riddle(disk):
    assert drawn(disk, asked("create_directory", {"path": "lib"}, "lib", op="folder")).complete


def test_a_tool_that_nobody_knows_is_shown_as_it_came(disk):
    unknown = [{"text": "mcp__x__y", "why": "the gate does not know all that this tool changes"}]
    preview = drawn(disk, asked("mcp__x__y", {"q": "SELECT 1"}, unknown=unknown))
    assert not preview.complete
    assert "SELECT 1" in preview.input


@pytest.mark.parametrize(
    "given", [None, [], "text", 3, {}, {"command": 3}, {"edits": 3}, {"diff": "junk"}, {"content": None}]
)
@pytest.mark.parametrize("tool", ["Write", "Edit", "apply_patch", "Bash", "delete_file", "delete_directory", "move_file",
                                  "create_directory", "NotebookEdit", "mcp__a__b"])  # fmt: skip
@pytest.mark.parametrize("targets", [(), ("src/a.txt",), ("a", "b")], ids=["none", "one", "two"])
def test_no_input_is_too_odd_to_be_shown(disk, tool, given, targets):
    preview = drawn(disk, asked(tool, given, *targets))
    assert preview.sentence


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "src/a.txt", "content": "ok", "file_text": "other"}),
        ("Edit", {"file_path": "src/a.txt", "old_string": "two", "new_string": "2", "search": "one", "replace": ""}),
    ],
)  # fmt: skip
def test_of_several_texts_none_is_drawn_for_the_whole(disk, tool, given):
    preview = drawn(disk, asked(tool, given, "src/a.txt"))
    assert not preview.complete
    assert preview.sentence.startswith("The input holds several texts")
    assert all(text in preview.input for text in given.values())
    plain = {key: given[key] for key in list(given)[: -2 if tool == "Edit" else -1]}
    assert drawn(disk, asked(tool, plain, "src/a.txt")).complete


SHORT_PATCH = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-two\n+2\n*** End Patch"


@pytest.mark.parametrize(
    "command",
    [["apply_patch", SHORT_PATCH], f"apply_patch <<'EOF'\n{SHORT_PATCH}\nEOF"],
    ids=["arguments", "heredoc"],
)
def test_a_patch_that_comes_as_a_command_is_drawn_as_the_patch(disk, command):
    preview = drawn(disk, asked("shell", {"command": command}, "src/a.txt", agent="codex"))
    assert (preview.complete, changed(preview.files[0])) == (True, ["-two", "+2"])
    elsewhere = drawn(disk, asked("shell", {"command": command}, "src/a.txt", agent="gemini-cli"))
    assert elsewhere.command is not None


def test_what_the_gate_could_not_know_is_told_even_where_the_text_looks_clear(disk):
    unknown = [{"text": "x", "why": "the command was longer then"}]
    preview = drawn(disk, asked("Bash", {"command": "touch x"}, unknown=unknown))
    assert not preview.complete
    assert "The command was longer then." in preview.sentence
