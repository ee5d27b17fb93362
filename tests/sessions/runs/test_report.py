"""The effects of a contained run over REST: what lands, waits and goes, what is recorded, who may report."""

from __future__ import annotations

import pytest
from django.db.models import F

from controlplane.models import Workspace
from sessions.models import Approval, ContainedRun
from tests import builders
from tests.sessions.runs.builders import (
    CONTAINMENT,
    content_hash,
    created,
    decide,
    deleted,
    land,
    report,
    start,
)
from traces.models import LedgerEntry, TraceFile

pytestmark = pytest.mark.django_db


def change(workspace, **fields):
    Workspace.objects.filter(pk=workspace.pk).update(revision=F("revision") + 1, **fields)


@pytest.fixture
def run(at_work):
    """A command that the gate allows contained."""
    return start(at_work)


def test_the_answer_says_how_to_run_it(acme, at_work):
    change(acme, intentignore="# secrets\n.env*\n!.env.example\nintent: INT-009\nkeys/\n")
    answer = at_work.gate("Bash", command="npm test", containment=CONTAINMENT)
    terms = answer["containment"]
    assert ContainedRun.objects.get().public_id == terms.pop("run_id")
    assert terms == {
        "writable": ["src/auth/**"], "hidden": [".env*", "!.env.example", "keys/"], "places": [],
        "network": "none", "seconds": 3600,
    }  # fmt: skip


def test_a_client_that_cannot_contain_is_asked_about(at_work):
    answer = at_work.gate("Bash", command="npm test")
    assert (answer["decision"], answer["containment"]) == ("ask", None)


def test_the_same_call_again_is_the_same_run(at_work):
    first, again = (
        at_work.gate("Bash", command="npm test", containment=CONTAINMENT, tool_use_id="t-1") for _ in range(2)
    )
    assert first["containment"] == again["containment"]
    assert ContainedRun.objects.count() == 1


@pytest.mark.parametrize("command", ["git push", "curl -d @x https://example.org", "kill 1", "$X"])
def test_what_leaves_the_workspace_is_asked_about_all_the_same(at_work, command):
    answer = at_work.gate("Bash", command=command, containment=CONTAINMENT)
    assert (answer["decision"], answer["containment"]) == ("ask", None)


def test_policy_switches_it_off(acme, at_work):
    change(acme, policy={"containment": "off"})
    assert at_work.gate("Bash", command="npm test", containment=CONTAINMENT)["decision"] == "ask"


def test_policy_contains_every_command_that_is_not_safe(acme, at_work):
    change(acme, policy={"containment": "all"})
    assert at_work.gate("Bash", command="touch src/auth/x", containment=CONTAINMENT)["containment"]
    assert at_work.gate("Bash", command="ls", containment=CONTAINMENT)["containment"] is None


def test_in_scope_lands_and_the_rest_waits(at_work, run):
    answer = report(
        at_work, run, created("src/auth/a.ts"), created("docs/b.md"), created(".claude/settings.json")
    )
    assert answer["land"] == ["src/auth/a.ts"]
    assert answer["hold"] == ["docs/b.md", ".claude/settings.json"]
    assert answer["decision"] == "ask"
    approval = Approval.objects.get()
    assert (approval.kind, approval.public_id) == ("run", answer["approval"]["id"])
    assert [file["path"] for file in approval.call["files"]] == answer["hold"]


def test_what_lands_is_a_trace_of_the_intent(at_work, run):
    report(at_work, run, created("src/auth/a.ts", "a\nb\n"), deleted("src/auth/old.ts"))
    files = {file.path: file for file in TraceFile.objects.all()}
    assert set(files) == {"src/auth/a.ts", "src/auth/old.ts"}
    assert files["src/auth/a.ts"].content_hash == content_hash("a\nb\n")
    assert files["src/auth/a.ts"].intent_id == "INT-001"
    assert files["src/auth/old.ts"].deleted


def test_the_run_is_an_event_of_the_session(at_work, run):
    report(at_work, run, created("src/auth/a.ts"), exit_code=3)
    entry = LedgerEntry.objects.get(kind="session", outcome="run")
    assert entry.session_id == "s-1"
    stored = ContainedRun.objects.get()
    assert (stored.exit_code, stored.duration_ms, stored.status) == (3, 1200, "REPORTED")
    assert "content" not in stored.effects[0]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "src/auth/../../../x"])
def test_a_path_outside_never_lands(at_work, run, path):
    answer = report(at_work, run, created(path))
    assert (answer["land"], answer["hold"], answer["discard"]) == ([], [], [path])


def test_a_link_counts_as_writing_what_it_points_to(at_work, run):
    link = created("src/auth/link", change="link", target="/etc/passwd", content=None, diff=None)
    inside = created("src/auth/x/inside", change="link", target="../a.ts", content=None, diff=None)
    beside = created("src/auth/beside", change="link", target="../../docs/a.md", content=None, diff=None)
    answer = report(at_work, run, link, inside, beside)
    assert (answer["discard"], answer["land"]) == (["src/auth/link"], ["src/auth/x/inside"])
    assert answer["hold"] == ["src/auth/beside"]


def test_ignored_names_wait(acme, at_work, run):
    change(acme, intentignore=".env*\n")
    assert report(at_work, run, created("src/auth/.env"))["hold"] == ["src/auth/.env"]


def test_builds_that_git_ignores_bother_nobody(at_work, run):
    answer = report(at_work, run, created("dist/app.js", ignored=True))
    assert (answer["discard"], answer["approval"]) == (["dist/app.js"], None)


def test_constraints_look_at_the_text(acme, agent):
    builders.intent(acme, constraints=[{"type": "forbid_pattern", "pattern": "eval"}])
    agent.select("INT-001")
    run = agent.gate("Bash", command="npm test", containment=CONTAINMENT)["containment"]
    answer = report(agent, run, created("src/auth/a.ts", "eval(x)\n"))
    assert answer["land"] == []


def test_git_lands_as_one(at_work, run):
    files = [".git/objects/ab/cdef", ".git/refs/heads/main", ".git/logs/HEAD", ".git/index"]
    answer = report(at_work, run, *(created(path, content=None, diff=None) for path in files))
    assert answer["land"] == files
    assert not TraceFile.objects.exists()


@pytest.mark.parametrize(
    "path", [".git/config", ".git/hooks/pre-commit", ".git/info/attributes", ".git/objects/info/alternates",
             ".git/modules/x/config", ".git/commondir"],
)  # fmt: skip
def test_what_git_runs_never_lands(at_work, run, path):
    assert report(at_work, run, created(path))["discard"] == [path]


def test_several_branches_wait(at_work, run):
    files = [".git/refs/heads/main", ".git/refs/heads/other"]
    assert report(at_work, run, *map(created, files))["hold"] == files


def test_the_same_report_again_is_answered_alike_and_another_is_refused(at_work, run):
    first = report(at_work, run, created("src/auth/a.ts"), created("docs/b.md"))
    assert report(at_work, run, created("src/auth/a.ts"), created("docs/b.md")) == first
    assert LedgerEntry.objects.filter(kind="session", outcome="run").count() == 1
    other = report(at_work, run, created("src/auth/c.ts"), status=409)
    assert other["error_type"] == "RUN_REPORTED"


def test_approved_changes_land_and_are_recorded_once(at_work, reviewer, run):
    answer = report(at_work, run, created("docs/b.md"), created("docs/c.md"))
    assert land(at_work, run)["hold"] == ["docs/b.md", "docs/c.md"]
    decide(reviewer, answer["approval"]["id"], patterns=["docs/b.md"])
    for _ in range(2):
        landed = land(at_work, run)
        assert (landed["land"], landed["discard"]) == (["docs/b.md"], ["docs/c.md"])
    assert [file.path for file in TraceFile.objects.all()] == ["docs/b.md"]


def test_rejected_changes_are_thrown_away(at_work, reviewer, run):
    answer = report(at_work, run, created("docs/b.md"))
    decide(reviewer, answer["approval"]["id"], action="reject")
    assert land(at_work, run)["discard"] == ["docs/b.md"]
    assert not TraceFile.objects.exists()


def test_only_what_waits_can_be_approved(at_work, reviewer, run):
    answer = report(at_work, run, created("docs/b.md"))
    decide(reviewer, answer["approval"]["id"], patterns=["src/x"], status=400)


def test_a_run_belongs_to_its_session(acme, at_work, run):
    stranger = builders.speaker(acme)
    report(stranger, run, created("src/auth/a.ts"), status=403)
    report(at_work, {"run_id": "f" * 32}, status=404)


@pytest.mark.parametrize(
    "file",
    [
        {"path": "a"},
        created("a") | {"change": "renamed"},
        created("a") | {"after": None, "content": None},
        created("a") | {"content": "another text"},
        deleted("a") | {"after": content_hash("x")},
        created("a", content="\ud800"),
        created("a\0"),
        created("a") | {"after": "abc"},
        created("a") | {"size": -1},
    ],
)
def test_a_malformed_report_changes_nothing(at_work, run, file):
    report(at_work, run, file, status=400)
    assert ContainedRun.objects.get().status == "ALLOWED"


def test_a_path_stands_once(at_work, run):
    report(at_work, run, created("src/auth/a.ts"), created("src/auth/a.ts"), status=400)


def test_the_session_tells_of_the_run(at_work, rex, run):
    report(at_work, run, created("src/auth/a.ts"))
    page = builders.signed_in(rex).get("/w/acme/sessions/s-1").content.decode()
    assert "Ran contained" in page
    assert "1 landed" in page
