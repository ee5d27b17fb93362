"""Shell commands as a card shows them: targets marked, effects listed."""

from __future__ import annotations

from tests.sessions.approvals.card.previews.builders import asked, drawn


def test_a_command_marks_its_targets_and_tells_each_part(disk):
    command = 'rm -rf dist && echo hi > src/gen.ts && cp -r src "$OUT_DIR" && git status --short'
    preview = drawn(disk, asked("Bash", {"command": command}))
    view = preview.command
    assert view is not None
    marked = [
        (piece.mark, piece.text)
        for line in view.lines
        for piece in line
        if piece.mark not in {"", "operator"}
    ]
    assert marked == [("deletes", "dist"), ("writes", "src/gen.ts"), ("unknown", '"$OUT_DIR"')]
    assert "".join(piece.text for piece in view.lines[1]) == "&& echo hi > src/gen.ts"
    assert [(row.number, row.target, row.in_scope, row.pattern) for row in view.parts] == [
        (1, "dist", "no", ""),
        (2, "src/gen.ts", "yes", "src/**"),
        (3, '"$OUT_DIR"', "unknown", ""),
        (4, "", "", ""),
    ]
    assert preview.note == "4 parts, run in / of the workspace"
    assert not preview.complete
    assert view.deletes


def test_a_wildcard_is_drawn_as_what_it_matches(disk, remote):
    preview = drawn(disk, asked("Bash", {"command": "chmod +x src/*.txt"}))
    assert preview.complete
    assert [(row.target, row.in_scope) for row in preview.command.parts] == [("src/a.txt", "yes")]
    assert [piece.text for piece in preview.command.lines[0] if piece.mark] == ["src/*.txt"]
    assert not drawn(remote, asked("Bash", {"command": "chmod +x src/*.txt"})).complete


def test_nothing_of_a_command_is_left_out(disk):
    command = "for f in a b; do\n  rm $f > log 2>&1; done; (cd src && tee x) | sort"
    view = drawn(disk, asked("Bash", {"command": command})).command
    assert view is not None
    shown = "".join(piece.text for line in view.lines for piece in line)
    assert "".join(shown.split()) == "".join(command.split())


def test_a_known_command_is_whole_and_runs_where_it_is_told(disk):
    preview = drawn(disk, asked("Bash", {"command": "touch x.txt", "cwd": "src"}))
    assert preview.complete
    assert preview.command is not None
    assert preview.command.parts[0].target == "src/x.txt"
    assert "run in src of the workspace" in preview.note
    outside = drawn(disk, asked("Bash", {"command": "rm ../../x"}))
    assert outside.command is not None
    assert outside.command.parts[0].in_scope == "no"
