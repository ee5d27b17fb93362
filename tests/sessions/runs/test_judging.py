"""What becomes of a change where the file alone does not decide: the session, the policy, others at work."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from controlplane.models import Workspace
from sessions.models import AgentSession, Approval, ContainedRun
from sessions.runs import report as runs_report
from tests import builders
from tests.sessions.runs.builders import content_hash, created, land, modified, report, start
from traces.ledger.append import read_body
from traces.models import LedgerEntry, TraceFile

pytestmark = pytest.mark.django_db
IN_SCOPE, OUTSIDE = created("src/auth/a.ts"), created("docs/b.md")


@pytest.fixture
def run(at_work):
    return start(at_work)


def set_policy(acme, **policy):
    Workspace.objects.filter(pk=acme.pk).update(revision=F("revision") + 1, policy=policy)


def test_a_file_that_was_changed_meanwhile_does_not_land_and_leaves_no_trace(at_work, run):
    answer = report(at_work, run, modified("src/auth/a.ts", "a\n", "b\n", stale=True))
    assert answer["discard"] == ["src/auth/a.ts"]
    assert ContainedRun.objects.get().effects[0]["error_type"] == "STALE_FILE"
    assert not TraceFile.objects.exists()


@pytest.mark.parametrize("end", ["freeze", "end"])
def test_work_of_a_session_that_was_stopped_waits_for_a_person(acme, at_work, run, end):
    if end == "end":
        at_work.post("sessions/s-1/end", {})
    else:
        AgentSession.objects.update(frozen=True, revision=F("revision") + 1)
    assert report(at_work, run, IN_SCOPE)["hold"] == ["src/auth/a.ts"]


def test_what_waits_outlives_its_session(at_work, run, reviewer):
    answer = report(at_work, run, OUTSIDE)
    at_work.post("sessions/s-1/end", {})
    approval = Approval.objects.get(public_id=answer["approval"]["id"])
    assert approval.status == "PENDING"
    reviewer.post(f"approvals/{approval.public_id}/decide", {"action": "approve"})
    assert land(at_work, run)["land"] == ["docs/b.md"]


def test_a_workspace_that_only_monitors_lets_everything_land_that_has_a_place(acme, at_work, run):
    set_policy(acme, enforcement="monitor")
    answer = report(at_work, run, OUTSIDE, created("../x"), created(".git/config"))
    assert (answer["land"], answer["discard"]) == (["docs/b.md"], ["../x", ".git/config"])


@pytest.mark.parametrize("policy", [{"require_content_hash": True}, {"require_mutation_class": True}])
def test_what_only_a_call_can_state_is_not_asked_of_a_program(acme, at_work, run, policy):
    set_policy(acme, **policy)
    assert report(at_work, run, modified("src/auth/a.ts", "a\n", "b\n"))["land"] == ["src/auth/a.ts"]


def test_rules_that_change_while_a_report_is_judged_count(acme, at_work, run, monkeypatch):
    judge = runs_report.judge_changes

    def judge_late(files, snapshot):
        monkeypatch.setattr(runs_report, "judge_changes", judge)
        judged = judge(files, snapshot)
        Workspace.objects.filter(pk=acme.pk).update(
            revision=F("revision") + 1, intentignore="src/auth/a.ts\n"
        )
        return judged

    monkeypatch.setattr(runs_report, "judge_changes", judge_late)
    assert report(at_work, run, IN_SCOPE)["hold"] == ["src/auth/a.ts"]


def test_what_lands_has_its_lines_and_its_class(at_work, reviewer, run):
    before, after = "def f():\n    return 1\n", "def g():\n    return 2\n"
    answer = report(
        at_work, run, modified("src/auth/a.py", before, after), modified("docs/b.py", before, after)
    )
    reviewer.post(f"approvals/{answer['approval']['id']}/decide", {"action": "approve"})
    land(at_work, run)
    for file in TraceFile.objects.prefetch_related("ranges"):
        assert file.mutation_class == "INTENT_EVOLUTION", file.path
        assert [(part.start_line, part.end_line) for part in file.ranges.all()] == [(1, 2)]
        assert "g" in file.symbols


def test_a_landed_edit_says_what_each_hunk_brought_and_what_it_started_from(at_work, run):
    before = "a\nb\nc\n"
    report(at_work, run, modified("src/auth/a.ts", before, "a\nB\nc\n"))
    entry = LedgerEntry.objects.filter(kind="trace").latest("pk")
    (file,) = read_body(entry)["files"]
    (hunk,) = file["line_changes"]
    assert (hunk["start_line"], hunk["line_count"], hunk["previous_line_count"]) == (2, 1, 1)
    assert file["previous_hash"] == content_hash(before)


def test_a_long_report_costs_few_statements(at_work):
    """Ten times as many files, not ten times as many statements: 250 files share theirs."""

    def count(number, folder):
        run = start(at_work, f"npm test -- {number}")
        files = [created(f"{folder}/{n}.ts", content=None, diff=None) for n in range(number)]
        with CaptureQueriesContext(connection) as queries:
            report(at_work, run, *files)
        return len(queries)

    assert count(400, "src/auth") <= count(40, "src/auth") + 15
    assert count(400, "docs") <= count(40, "docs") + 5


@pytest.mark.deep
def test_ten_thousand_files_are_one_report_and_one_card(at_work, run, rexs):
    files = [created(f"docs/{n % 97}/{n} é '{n}'.bin", content=None, diff=None) for n in range(9_000)]
    files += [created(f"src/auth/{n}.ts", content=None, diff=None) for n in range(1_000)]
    answer = report(at_work, run, *files)
    assert [len(answer[name]) for name in ("hold", "land")] == [9_000, 1_000]
    page = rexs.get(f"/w/acme/approvals/{answer['approval']['id']}/?held=180")
    assert "Page 180 of 180" in page.content.decode()
    assert len(page.content) < 400_000
    form = {"action": "approve", "held_page": 180, "others": "true"}
    rexs.post(f"/w/acme/approvals/{answer['approval']['id']}/decide/", form)
    assert len(land(at_work, run)["land"]) == 8_950
    assert LedgerEntry.objects.filter(kind="trace").count() == 9_950


def test_a_session_of_another_token_is_none_of_a_stranger(acme, at_work, run):
    stranger = builders.speaker(acme)
    report(stranger, run, IN_SCOPE, status=403)
    assert stranger.post(f"runs/{run['run_id']}/land", {}).status_code == 403


@pytest.mark.parametrize(
    ("command", "network"),
    [("npm test", "none"), ("npm install", "open"), ("git fetch origin && npm test", "none"),
     ("git fetch origin; python3 -c 'import x'", "none")],
)  # fmt: skip
def test_no_code_runs_where_a_part_has_the_network(acme, at_work, command, network):
    set_policy(
        acme, containment="all", hosts=["github.com"], effects={"fetches": "allow", "installs": "allow"}
    )
    answer = at_work.gate("Bash", command=command, containment={"overlay": True, "landlock": 7})
    assert (answer["decision"], answer["containment"]["network"]) == ("allow", network)


def test_a_shell_that_would_stay_outside_is_not_contained(acme, at_work):
    set_policy(acme, effects={"unknown": "contain"})
    answer = at_work.gate("Bash", command="cd ..", containment={"overlay": True, "landlock": 7})
    assert answer["decision"] != "allow"
