"""What git says has changed, held against decisions, traces and scopes: over REST and on the pages."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.urls import reverse
from django.utils import timezone

from tests import builders
from tests.sessions.reconciliation.calls import BASE, HEAD, ROOT, changed, found, posted, sha, trace, write
from traces.models import LedgerEntry


def test_what_a_governed_call_left_is_explained_by_its_trace_and_decision(working):
    answer = posted(working, changed("src/auth/a.ts", "one\n"))
    (one,) = answer["explained"]
    assert answer["findings"] == []
    assert answer["counts"] == {"files": 1, "explained": 1, "unexplained": 0, "out_of_scope": 0}
    assert (one["session_id"], one["intent_id"]) == ("s-1", "INT-001")
    assert LedgerEntry.objects.get(kind="trace").entry_id == one["entry_id"]
    assert LedgerEntry.objects.get(kind="decision", tool="Write").entry_id == one["decision_id"]


def test_the_end_of_a_chain_of_calls_is_explained(working):
    write(working, "src/auth/a.ts", "two\n")
    write(working, "src/auth/a.ts", "three\n")
    assert found(working, changed("src/auth/a.ts", "three\n")) == {"src/auth/a.ts": ("explained", "traced")}


def test_a_formatter_after_the_trace_shows(working):
    assert found(working, changed("src/auth/a.ts", "one  \n")) == {
        "src/auth/a.ts": ("unexplained", "changed_after_trace")
    }


def test_what_nobody_told_of_is_unexplained(working):
    assert found(working, changed("src/auth/other.ts", "x")) == {
        "src/auth/other.ts": ("unexplained", "no_trace")
    }


def test_a_call_that_was_let_through_but_never_traced_explains_nothing(working):
    working.gate("Write", file_path=f"{ROOT}/src/auth/b.ts", content="x", root=ROOT)
    assert found(working, changed("src/auth/b.ts", "x")) == {"src/auth/b.ts": ("unexplained", "not_traced")}


def test_a_trace_alone_explains_nothing_without_a_call_of_its_session(working):
    trace(working, "src/auth/forged.ts", "evil\n")
    assert found(working, changed("src/auth/forged.ts", "evil\n")) == {
        "src/auth/forged.ts": ("unexplained", "traced_without_decision")
    }


def test_an_imported_trace_explains_nothing(working, admin):
    entry = {
        "id": "old", "timestamp": "2026-01-01T00:00:00Z", "vcs": {"revision_id": BASE},
        "files": [{"relative_path": "src/auth/old.ts", "conversations": [{
            "url": "s-1", "contributor": {"entity_type": "AI", "model_identifier": "m"},
            "ranges": [{"start_line": 1, "end_line": 1, "content_hash": sha("x")}],
            "related": [{"type": "specification", "value": "INT-001"}]}]}],
    }  # fmt: skip
    answer = admin.post("traces/import", entry)
    assert answer.status_code == 200, answer.content
    working.gate("Write", file_path=f"{ROOT}/src/auth/old.ts", content="x", root=ROOT)
    assert found(working, changed("src/auth/old.ts", "x")) == {
        "src/auth/old.ts": ("unexplained", "imported_trace")
    }


def test_a_path_that_the_gate_denied_and_that_changed_nonetheless_is_out_of_scope(working):
    working.gate("Write", file_path=f"{ROOT}/docs/a.md", content="x", root=ROOT)
    assert found(working, changed("docs/a.md", "x")) == {"docs/a.md": ("out_of_scope", "denied")}


def test_a_scope_that_was_narrowed_since_counts_as_it_is_now(acme, working, admin):
    version = admin.get("intents/INT-001").json()["version"]
    answer = admin.patch("intents/INT-001", {"owned_scope": ["src/new/**"], "version": version})
    assert answer.status_code == 200, answer.content
    assert found(working, changed("src/auth/a.ts", "one\n")) == {
        "src/auth/a.ts": ("out_of_scope", "not_in_scope")
    }


def test_what_a_human_let_pass_is_explained_although_no_scope_holds_it(working, reviewer):
    asked = working.gate("Write", file_path=f"{ROOT}/docs/a.md", content="x", root=ROOT)
    decided = reviewer.post(
        f"approvals/{asked['approval']['id']}/decide", {"action": "approve", "grant": "once"}
    )
    assert decided.status_code == 200, decided.content
    assert write(working, "docs/a.md", "x")["decision"] == "allow"
    assert found(working, changed("docs/a.md", "x")) == {"docs/a.md": ("explained", "approved")}


def test_a_deletion_is_explained_by_a_traced_one_only(working):
    gone = changed("src/auth/a.ts")
    assert found(working, gone) == {"src/auth/a.ts": ("unexplained", "changed_after_trace")}
    working.gate("Bash", command="rm src/auth/a.ts", root=ROOT, cwd=ROOT)
    trace(working, "src/auth/a.ts", None)
    assert found(working, gone) == {"src/auth/a.ts": ("explained", "traced")}


def test_a_rename_is_explained_by_the_trace_under_the_old_name_where_the_move_was_governed(working):
    moved = changed("src/auth/b.ts", "one\n", old_path="src/auth/a.ts") | {"status": "R"}
    assert found(working, moved) == {"src/auth/b.ts": ("unexplained", "traced_without_decision")}
    working.gate("Bash", command="mv src/auth/a.ts src/auth/b.ts", root=ROOT, cwd=ROOT)
    assert found(working, moved) == {"src/auth/b.ts": ("explained", "traced")}
    taken = changed("src/auth/a.ts", "one\n", old_path="docs/a.ts") | {"status": "R"}
    assert found(working, taken) == {"src/auth/a.ts": ("out_of_scope", "not_in_scope")}


def test_a_mode_is_not_told_by_traces(working):
    only = changed("src/auth/a.ts", "one\n", mode_only=True)
    assert found(working, only) == {"src/auth/a.ts": ("unexplained", "mode_changed")}


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "a/../../b", "", "x" * 3000])
def test_names_that_are_no_place_in_a_workspace_explain_nothing(working, path):
    answer = working.post("reconciliations", {"base": BASE, "head": HEAD, "files": [changed(path, "x")]})
    if answer.status_code == 201:
        (one,) = answer.json()["findings"]
        assert one["reason"] == "unreadable_path"
    else:
        assert answer.status_code == 400


def test_an_intent_that_is_named_must_hold_every_file(acme, working):
    builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    assert found(working, changed("src/auth/a.ts", "one\n"), intent_id="INT-002") == {
        "src/auth/a.ts": ("out_of_scope", "not_in_scope")
    }
    assert found(working, changed("src/auth/a.ts", "one\n"), intent_id="INT-001") == {
        "src/auth/a.ts": ("explained", "traced")
    }


def test_only_the_session_that_is_named_counts(working):
    assert found(working, changed("src/auth/a.ts", "one\n"), session_id="s-2") == {
        "src/auth/a.ts": ("unexplained", "no_trace")
    }


def test_the_same_result_is_recorded_once_and_another_anew(working):
    first = posted(working, changed("src/auth/a.ts", "two\n"))
    again = posted(working, changed("src/auth/a.ts", "two\n"), status=200)
    assert first == again
    write(working, "src/auth/a.ts", "two\n")
    after = posted(working, changed("src/auth/a.ts", "two\n"))
    assert after["id"] != first["id"]
    listed = working.get("reconciliations").json()["results"]
    assert [one["id"] for one in listed] == [after["id"], first["id"]]
    assert working.get(f"reconciliations/{first['id']}").json() == first
    assert working.get("reconciliations/nothing").status_code == 404


def test_a_dry_run_records_nothing(working):
    assert posted(working, changed("x", "x"), status=200, query="?dry_run=1")["id"] is None
    assert not LedgerEntry.objects.filter(kind="reconciliation").exists()


@pytest.mark.parametrize(
    "files", [None, [5], [{"path": "a"}], [{"path": "a", "status": "M", "content_hash": "md5:x"}], "x"]
)
def test_a_malformed_body_is_refused(working, files):
    answer = working.post("reconciliations", {"base": BASE, "head": HEAD, "files": files})
    assert answer.status_code == 400


def test_more_files_than_can_be_judged_are_refused(working):
    files = [changed(f"f{number}", "x") for number in range(10_001)]
    answer = working.post("reconciliations", {"base": BASE, "head": HEAD, "files": files})
    assert answer.status_code == 400


def test_the_pages_show_the_last_one_with_links(working, rex):
    rexs = builders.signed_in(rex)
    session, intent = reverse("sessions:detail", args=["acme", "s-1"]), "/w/acme/intents/INT-001/"
    assert "Compared with git" not in rexs.get(session).content.decode()
    posted(working, changed("src/auth/a.ts", "<b>\n"), changed("src/auth/<i>\u202e.ts", "x"))
    for address in (session, intent):
        text = rexs.get(address).content.decode()
        assert "Compared with git" in text
        assert "0 of 2 files explained, 2 unexplained" in text
        assert reverse("traces:file", args=["acme", "src/auth/a.ts"]) in text
        assert "<i>" not in text.split("Compared with git")[1]
    posted(working, changed("src/auth/a.ts", "one\n"))
    assert "1 of 1 files explained" in rexs.get(session).content.decode()


def test_the_evidence_is_still_insert_only(working):
    posted(working, changed("src/auth/a.ts", "one\n"))
    for statement in ("UPDATE traces_ledgerentry SET outcome = 'x'", "DELETE FROM traces_ledgerbody"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (("100644", "100644"), ("explained", "traced")),
        (("000000", "100644"), ("explained", "traced")),
        (("100755", "100755"), ("explained", "traced")),
        (("100644", "100755"), ("unexplained", "mode_changed")),
        (("100755", "100644"), ("unexplained", "mode_changed")),
        (("000000", "100755"), ("unexplained", "mode_changed")),
        (("100644", "120000"), ("unexplained", "type_changed")),
        (("000000", "120000"), ("unexplained", "type_changed")),
        (("120000", "100644"), ("unexplained", "type_changed")),
    ],
)
def test_a_trace_of_the_content_explains_neither_another_type_nor_another_mode(working, modes, expected):
    file = changed("src/auth/a.ts", "one\n", old_mode=modes[0], new_mode=modes[1])
    assert found(working, file) == {"src/auth/a.ts": expected}


def test_a_new_name_does_not_hide_that_the_old_one_was_removed(working):
    write(working, "src/auth/copy.ts", "one\n")
    moved = changed("src/auth/copy.ts", "one\n", status="R", old_path="src/auth/a.ts")
    assert found(working, moved) == {"src/auth/copy.ts": ("unexplained", "removal_not_traced")}
    trace(working, "src/auth/a.ts", None)
    assert found(working, moved) == {"src/auth/copy.ts": ("explained", "traced")}


def test_an_old_text_that_was_put_back_by_hand_is_not_explained_by_its_own_trace(working):
    write(working, "src/auth/a.ts", "vulnerable\n")
    write(working, "src/auth/a.ts", "fixed\n")
    assert found(working, changed("src/auth/a.ts", "fixed\n")) == {"src/auth/a.ts": ("explained", "traced")}
    put_back = changed("src/auth/a.ts", "vulnerable\n")
    assert found(working, put_back) == {"src/auth/a.ts": ("unexplained", "changed_after_trace")}


def test_a_text_that_was_committed_before_the_session_replaced_it_stays_explained(working):
    """As for a check of an older commit, while the session works on."""
    write(working, "src/auth/a.ts", "two\n")
    before, after = (timezone.now() + timedelta(hours=hours) for hours in (-1, 1))
    older = changed("src/auth/a.ts", "one\n", committed_at=before.isoformat())
    put_back = changed("src/auth/a.ts", "one\n", committed_at=after.isoformat())
    assert found(working, older) == {"src/auth/a.ts": ("explained", "traced")}
    assert found(working, put_back) == {"src/auth/a.ts": ("unexplained", "changed_after_trace")}


def test_a_file_that_the_session_removed_since_is_not_explained_by_what_it_wrote_before(working):
    write(working, "src/auth/a.ts", "one\n")
    trace(working, "src/auth/a.ts", None)
    assert found(working, changed("src/auth/a.ts", "one\n")) == {
        "src/auth/a.ts": ("unexplained", "changed_after_trace")
    }
