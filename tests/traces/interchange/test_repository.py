"""Repositories on disk: `.agent-trace/`, notes in and out, git-ai's authorship."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess

import pytest
from django.core.management import CommandError, call_command

from tests.builders import workspace
from traces.interchange.formats import git_ai
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry, TraceFile, TraceRange

pytestmark = pytest.mark.django_db

SESSION = "s_0123456789abcd"
NOTE = f"""src/a.ts
  {SESSION}::t_00000000000001 1-4,9
  h_0123456789abcd 5-6
"docs/two words.md"
  {SESSION}::t_00000000000002 1-2
---
{{"schema_version": "authorship/3.0.0", "base_commit_sha": "",
 "sessions": {{"{SESSION}": {{"agent_id": {{"tool": "cursor", "id": "conversation-1", "model": "model-x"}},
 "custom_attributes": {{"intent_id": "INT-001"}}}}}}, "humans": {{"h_0123456789abcd": {{"author": "Ada"}}}}}}
"""


class Clone:
    def __init__(self, path):
        self.path = path
        self.git("init", "--quiet")
        (path / "a.ts").write_text("x\n")
        self.git("add", "a.ts")
        self.git("commit", "--quiet", "--message", "one")
        self.head = self.git("rev-parse", "HEAD").strip()

    def git(self, *words, given=None):
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        done = subprocess.run(
            ["git", *identity, "-C", str(self.path), *words], input=given, capture_output=True, text=True, check=True
        )  # fmt: skip
        return done.stdout

    def note(self, ref, text):
        self.git("notes", f"--ref={ref}", "add", "--force", "--file=-", self.head, given=text)


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path)


@pytest.fixture
def home():
    return workspace("payments")


@pytest.fixture
def bring(clone, home):
    def run(stdout=None, **options):
        out = stdout or io.StringIO()
        call_command(
            "import_traces", workspace=home.slug, repository=clone.path, json=True, stdout=out, **options
        )
        return json.loads(out.getvalue())

    return run


def record(record_id="550e8400-e29b-41d4-a716-446655440000", **more):
    return {
        "version": "0.1.0",
        "id": record_id,
        "timestamp": "2026-01-23T14:30:00Z",
        "files": [{"path": "a.ts", "conversations": [{"ranges": [{"start_line": 1, "end_line": 1}]}]}],
        **more,
    }


def bodies():
    return [read_body(row) for row in LedgerEntry.objects.filter(kind=EntryKind.TRACE).order_by("pk")]


def test_a_folder_and_both_kinds_of_notes_come_in_once(bring, clone):
    folder = clone.path / ".agent-trace" / "deep"
    folder.mkdir(parents=True)
    (folder.parent / "traces.jsonl").write_text(json.dumps(record()) + "\n")
    (folder / "one.json").write_text(json.dumps(record("550e8400-e29b-41d4-a716-446655440001"), indent=2))
    (folder / "linked.json").symlink_to("/etc/passwd")
    clone.note("refs/notes/agent-trace", json.dumps(record("550e8400-e29b-41d4-a716-446655440002")))
    clone.note("refs/notes/ai", NOTE)
    assert bring()["entries"] == 4
    again = bring()
    assert (again["entries"], again["duplicates"], again["rewrite"]) == (0, 4, None)


def test_a_note_of_git_ai_says_what_it_says_and_nothing_more(bring, clone):
    clone.note("refs/notes/ai", NOTE)
    assert bring(ref=["refs/notes/ai"])["warnings"] == []
    [body] = bodies()
    assert body["vcs"] == {"type": "git", "revision_id": clone.head}
    assert body["original"]["note"] == NOTE
    assert "mutation_class" not in body
    told = TraceFile.objects.order_by("pk").values_list("path", "session_id", "intent_id", "content_hash")
    assert list(told) == [
        ("src/a.ts", "conversation-1", "INT-001", ""),
        ("docs/two words.md", "conversation-1", "INT-001", ""),
    ]
    lines = TraceRange.objects.order_by("pk").values_list("start_line", "end_line", "contributor", "model")
    assert list(lines) == [(1, 4, "AI", "model-x"), (9, 9, "AI", "model-x"), (5, 6, "HUMAN", ""), (1, 2, "AI", "model-x")]  # fmt: skip


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ("nonsense", "no line ---"),
        ("  s_0123456789abcd 1\n---\n{}", "before the first file"),
        ("a.ts\n  s_0123456789abcd x\n---\n{}", "not a claim"),
        ("a.ts\n---\n[]", "must be a JSON object"),
        ("../../etc/passwd\n  s_0123456789abcd 1\n---\n{}", "relative_path"),
        ("a.ts\n  s_0123456789abcd 9-2\n---\n{}", "before start_line"),
    ],
)
def test_a_note_that_cannot_be_read_is_left_out_by_name(bring, clone, note, text):
    clone.note("refs/notes/ai", note)
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 parts of the repository are not in the ledger") as stopped:
        bring(stdout=out)
    report = json.loads(out.getvalue())
    assert (stopped.value.returncode, report["left_out"], report["warning_count"]) == (4, 1, 1)
    [warning] = report["warnings"]
    assert warning["type"] == "INVALID_NOTE"
    assert text in warning["message"]
    assert clone.head in warning["message"]
    assert bodies() == []


def test_older_notes_name_prompts():
    note = 'a.ts\n  0123456789abcdef 1\n---\n{"prompts": {"0123456789abcdef": {"agent_id": {"model": "m"}}}}'
    [talk] = git_ai.to_entry(note, "a" * 40, "2026-01-01T00:00:00Z")["files"][0]["conversations"]
    assert (talk["url"], talk["contributor"]["model_identifier"]) == ("0123456789abcdef", "m")


def test_a_record_without_a_revision_belongs_to_the_commit_of_its_note(bring, clone):
    clone.note("refs/notes/agent-trace", json.dumps(record()))
    bring()
    assert bodies()[0]["vcs"]["revision_id"] == clone.head


def test_notes_go_out_beside_what_others_wrote_and_come_back_the_same(bring, clone, home):
    mine = {
        "id": "e-1", "timestamp": "2026-02-21T12:00:00Z", "vcs": {"revision_id": clone.head},
        "files": [{"relative_path": "a.ts"}], "mutation_class": "AST_REFACTOR",
    }  # fmt: skip
    elsewhere = {**mine, "id": "e-2", "vcs": {"revision_id": "b" * 40}}
    nowhere = {**mine, "id": "e-3", "vcs": {"revision_id": "HEAD"}}
    file = clone.path / "t.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in (mine, elsewhere, nowhere)))
    call_command("import_traces", str(file), workspace=home.slug, stdout=io.StringIO())
    clone.note("refs/notes/agent-trace", json.dumps(record()))
    for told in ("1 notes", "0 notes"):
        out = io.StringIO()
        call_command("export_traces", workspace=home.slug, repository=clone.path, stdout=out)
        assert told in out.getvalue()
    report = bring()
    assert (report["entries"], report["duplicates"], report["warnings"]) == (1, 1, [])
    away = workspace("away")
    call_command("import_traces", workspace=away.slug, repository=clone.path, stdout=io.StringIO())
    stored = LedgerEntry.objects.filter(workspace_id=away.pk, kind=EntryKind.TRACE)
    assert mine in [read_body(row) for row in stored]


def test_a_hook_of_the_repository_never_runs(bring, clone, home):
    hook = clone.path / ".git" / "hooks" / "post-index-change"
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    clone.note("refs/notes/agent-trace", json.dumps(record()))
    bring()
    assert not (clone.path / "ran").exists()


def test_lines_go_to_standard_output(bring, clone, home, capfdbinary):
    clone.note("refs/notes/agent-trace", json.dumps(record()))
    bring()
    call_command("export_traces", workspace=home.slug, format="agent-trace")
    assert json.loads(capfdbinary.readouterr().out) == record()


def test_what_is_no_repository_is_an_error(home, tmp_path):
    for command in ("import_traces", "export_traces"):
        with pytest.raises(CommandError, match=r"not a git repository|cannot change"):
            call_command(command, workspace=home.slug, repository=tmp_path / "none")
    with pytest.raises(CommandError, match="Name a file"):
        call_command("import_traces", workspace=home.slug)


def test_notes_that_are_not_there_are_named(bring, clone):
    clone.note("refs/notes/ai", NOTE)
    with pytest.raises(CommandError, match=r"ref refs/notes/ia does not exist; give its full name"):
        bring(ref=["refs/notes/ai", "refs/notes/ia"])
    assert bodies() == []


def test_a_note_of_a_commit_that_is_not_there_comes_in_as_of_an_absent_revision(bring, clone):
    """As squashing and rebasing leave it."""
    clone.note("refs/notes/ai", NOTE)
    gone = clone.head
    clone.git("commit", "--quiet", "--amend", "--message", "other")
    clone.git("reflog", "expire", "--expire=now", "--all")
    clone.git("gc", "--quiet", "--prune=now")
    report = bring()
    assert (report["entries"], report["absent_revisions"], report["left_out"], report["warnings"]) == (
        1,
        1,
        0,
        [],
    )
    [body] = bodies()
    assert body["vcs"] == {"type": "git", "revision_id": gone, "absent": True}
    assert TraceRange.objects.count() == 4
    assert bring()["duplicates"] == 1


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("human", "HUMAN"),
        ("Ada Lovelace", "UNKNOWN"),
        ("ai_agent", "AI"),
        ("0b0e8400-e29b-41d4-a716-446655440000", "AI"),
    ],
)
def test_claims_of_people_and_agents_of_any_name_are_read(bring, clone, key, kind):
    clone.note("refs/notes/ai", f"a.ts\n  {key} 1,3-5\n---\n{{}}")
    assert bring()["warnings"] == []
    lines = TraceRange.objects.order_by("pk").values_list("start_line", "end_line", "contributor")
    assert list(lines) == [(1, 1, kind), (3, 5, kind)]


def test_of_a_large_note_the_claims_come_in_and_its_digest(bring, clone):
    note = NOTE.replace('"base_commit_sha": ""', f'"base_commit_sha": "{"x" * 2**20}"')
    clone.note("refs/notes/ai", note)
    assert bring()["entries"] == 1
    [body] = bodies()
    assert body["original"]["note_sha256"] == hashlib.sha256(note.encode()).hexdigest()
    assert TraceFile.objects.count() == 2


def test_a_nested_folder_is_read_and_logs_beside_traces_are_not(bring, clone):
    folder = clone.path / "packages" / "shop" / ".agent-trace"
    folder.mkdir(parents=True)
    (folder / "traces.jsonl").write_text(json.dumps(record()) + "\n")
    (folder / "prompts.jsonl").write_text('{"prompt": "x"}\n')
    report = bring()
    assert (report["entries"], report["valid"]) == (1, True)
    [warning] = report["warnings"]
    assert warning["type"] == "SIDECAR_LEFT_OUT"


def test_of_a_bare_clone_the_folders_of_its_head_are_read(bring, clone, tmp_path, home):
    folder = clone.path / "packages" / ".agent-trace"
    folder.mkdir(parents=True)
    (folder / "traces.jsonl").write_text(json.dumps(record()) + "\n")
    (folder / "linked.jsonl").symlink_to("/etc/passwd")
    clone.git("add", "packages")
    clone.git("commit", "--quiet", "--message", "two")
    bare = tmp_path / "bare.git"
    clone.git("clone", "--quiet", "--bare", str(clone.path), str(bare))
    out = io.StringIO()
    call_command("import_traces", workspace=home.slug, repository=bare, json=True, stdout=out)
    report = json.loads(out.getvalue())
    assert (report["entries"], report["warnings"]) == (1, [])
