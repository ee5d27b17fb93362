"""Blame by intent through the history of a repository: over REST and on the page of a file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from controlplane.models import Workspace
from tests import builders
from tests.traces.ranges.repositories import Repo
from traces.entries import record
from traces.ledger import append
from traces.ranges import file_history

pytestmark = pytest.mark.django_db
PATH = "src/auth/login.py"
PAGE = f"/w/acme/traces/map/file/{PATH}"


def later(hours):
    """A time of commits: entries are recorded now."""
    return (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def repo(acme, tmp_path):
    """The workspace's folder, with a file that a person wrote."""
    repo = Repo(tmp_path / "repo")
    repo.commit(PATH, "by_hand()\n", at=later(-10))
    Workspace.objects.filter(pk=acme.pk).update(local_root=str(repo.folder))
    return repo


@pytest.fixture
def selected(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    return agent


def set_clock_on(monkeypatch, by):
    """What is recorded from now on is recorded that much later."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + by

    for module in (record, append):
        monkeypatch.setattr(module, "datetime", Clock)


def trace(agent, text, path=PATH, **more):
    answer = agent.post("sessions/s-1/traces", {"path": path, "content": text, **more})
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


def blamed(agent, path=PATH, **query):
    answer = agent.get(f"files/blame?{urlencode({'path': path} | query)}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def spans(answer):
    return [
        (span["start_line"], span["end_line"], span["state"], (span["origin"] or {}).get("entry_id"))
        for span in answer["spans"]
    ]


def test_lines_keep_their_entry_after_later_edits_of_people_and_agents(repo, selected):
    first = trace(selected, "by_hand()\nlogin(user)\ncheck(user)\nstore(user)\n")
    one = repo.commit(PATH, "by_hand()\nlogin(user)\ncheck(user)\nstore(user)\n", at=later(1))
    two = repo.commit(PATH, "# mine\nby_hand()\nlogin(user)\nverify(user)\nstore(user)\n", at=later(2))
    repo.write(PATH, "# mine\nby_hand()\nlogin(user)\nverify(user)\nstore(user)\nnot_committed()\n")
    found = blamed(selected)
    assert spans(found) == [
        (1, 1, "unclaimed", None),
        (2, 2, "unclaimed", None),
        (3, 3, "moved", first),
        (4, 4, "unclaimed", None),
        (5, 5, "moved", first),
        (6, 6, "unclaimed", None),
    ]
    assert [(span["commit"] or {}).get("revision") for span in found["spans"]] == [
        two, repo.git("rev-list", "--max-parents=0", "HEAD"), one, two, one, None,
    ]  # fmt: skip
    assert (found["followed"], found["note"], found["changed"], found["deleted"]) == (True, "", [], None)
    at_head = blamed(selected, at="head")
    assert at_head["lines"] == 5
    assert selected.get(f"files/blame?path={PATH}&at=tail").status_code == 400


def test_an_edit_between_two_commits_belongs_to_its_entry_though_the_whole_file_was_hashed(repo, selected):
    whole = trace(selected, "by_hand()\nlogin(user)\n", start_line=2, end_line=2)
    repo.commit(PATH, "by_hand()\nlogin(user)\n", at=later(1))
    assert spans(blamed(selected)) == [(1, 1, "unclaimed", None), (2, 2, "in_place", whole)]


def edit(agent, before, old, new, lines):
    """An edit through the gate, and what a hook reports afterwards: the lines, with the hash of the whole
    file."""
    path = f"/repo/{PATH}"
    answer = agent.gate("Edit", root="/repo", cwd="/repo", file_path=path, old_string=old, new_string=new)
    assert answer["decision"] == "allow", answer
    after = before.replace(old, new)
    return after, trace(agent, after, start_line=lines[0], end_line=lines[1])


def test_each_of_several_edits_between_two_commits_has_its_lines(repo, selected, monkeypatch):
    repo.commit(PATH, "by_hand()\none()\ntwo()\nthree()\n", at=later(-5))
    text, first = edit(selected, "by_hand()\none()\ntwo()\nthree()\n", "one()", "uno(\n1)", (2, 3))
    text, second = edit(selected, text, "three()", "tre()", (5, 5))
    text, third = edit(selected, text, "1)", "1, 2)", (3, 3))
    commit = repo.commit(PATH, text, at=later(0))
    set_clock_on(monkeypatch, timedelta(hours=1))  # a commit tells whole seconds: these are of another one
    text, fourth = edit(selected, text, "by_hand()\n", "by_hand()\nnew()\n", (2, 2))
    text, fifth = edit(selected, text, "tre()", "drei()", (6, 6))
    repo.write(PATH, text)
    found = blamed(selected)
    assert spans(found) == [
        (1, 1, "unclaimed", None),
        (2, 2, "in_place", fourth),
        (3, 3, "moved", first),
        (4, 4, "moved", third),
        (5, 5, "unclaimed", None),
        (6, 6, "in_place", fifth),
    ]
    assert [span["commit"] and span["commit"]["revision"] == commit for span in found["spans"]] == [
        False, None, True, True, False, None,
    ]  # fmt: skip
    assert [one["entry_id"] for one in found["changed"]] == [second]


def test_edits_that_were_masked_tell_nothing(repo, selected):
    secret = "ghp_" + "a" * 36
    text, _ = edit(selected, "by_hand()\nrest()\n", "by_hand()", f"by_hand('{secret}')", (1, 1))
    text, second = edit(selected, text, "rest()\n", f"rest()\nmore('{secret}')\n", (3, 3))
    repo.commit(PATH, text, at=later(1))
    assert spans(blamed(selected)) == [(1, 2, "unclaimed", None), (3, 3, "in_place", second)]


def test_what_a_formatter_did_is_shown_with_its_commit_and_with_its_entry(repo, selected):
    entry = trace(selected, "by_hand()\nlogin(user,password)\n")
    repo.commit(PATH, "by_hand()\nlogin(user,password)\n", at=later(1))
    tidied = "by_hand()\nlogin(\n    user,\n    password,\n)\n"
    commit = repo.commit(PATH, tidied, at=later(2))
    span = blamed(selected)["spans"][1]
    assert (span["start_line"], span["end_line"], span["state"]) == (2, 5, "reformatted")
    assert span["origin"]["entry_id"] == entry
    assert (span["reformatted_by"]["commit"]["revision"], span["reformatted_by"]["origin"]) == (commit, None)
    formatter = trace(selected, tidied, mutation_class="AST_REFACTOR")
    repo.git("commit", "-q", "--amend", "--no-edit", at=later(3))
    assert blamed(selected)["spans"][1]["reformatted_by"]["origin"]["entry_id"] == formatter


def test_a_renamed_file_keeps_its_entries_and_each_name_leads_to_the_other(repo, selected, ivy):
    text = "by_hand()\n" + "".join(f"step_{number}(user)\n" for number in range(9))
    entry = trace(selected, text)
    repo.commit(PATH, text, at=later(1))
    repo.git("mv", PATH, "src/auth/sign_in.py")
    commit = repo.commit(at=later(2))
    found = blamed(selected, "src/auth/sign_in.py")
    assert spans(found) == [(1, 1, "unclaimed", None), (2, 10, "in_place", entry)]
    assert found["spans"][1]["origin"]["path"] == PATH
    assert [(one["path"], one["renamed_to"], one["commit"]["revision"]) for one in found["names"]] == [
        (PATH, "src/auth/sign_in.py", commit)
    ]
    gone = blamed(selected, PATH)
    assert (gone["lines"], gone["deleted"]["origin"]) == (0, None)
    assert gone["deleted"]["change"]["renamed_to"] == "src/auth/sign_in.py"
    client = builders.signed_in(ivy)
    old = client.get(f"{PAGE}?history=1").content.decode()
    assert "/w/acme/traces/map/file/src/auth/sign_in.py?history=1" in old
    assert "in traces" in old.lower()
    new = client.get("/w/acme/traces/map/file/src/auth/sign_in.py?history=1").content.decode()
    assert f"{PAGE}?history=1" in new


def test_a_deleted_file_says_who_took_it_away_and_keeps_its_history(repo, selected, ivy):
    client = builders.signed_in(ivy)
    trace(selected, "by_hand()\nmore()\n")
    repo.git("rm", "-q", PATH)
    found = blamed(selected)
    assert found["deleted"] == {"origin": None, "change": None}  # gone from disk, and nobody says who did it
    assert "no entry or commit recorded the deletion" in client.get(f"{PAGE}?fragment=lines").content.decode()
    commit = repo.commit(at=later(1))
    found = blamed(selected)
    assert (found["deleted"]["origin"], found["deleted"]["change"]["commit"]["revision"]) == (None, commit)
    answer = selected.post("sessions/s-1/traces", {"path": PATH, "content_hash": "DELETED"})
    found = blamed(selected)
    assert found["deleted"]["origin"]["entry_id"] == answer.json()["id"]
    assert found["deleted"]["origin"]["intent_id"] == "INT-001"
    page = client.get(PAGE)
    assert len(page.context["changes"]) == 2
    assert "<b>Deleted</b>" in page.content.decode()
    assert "INT-001" in client.get(f"{PAGE}?fragment=lines").content.decode()
    assert commit[:10] in client.get(f"{PAGE}?fragment=lines").content.decode()


def test_without_a_folder_the_ledger_alone_tells_that_a_file_was_deleted(acme, selected, ivy):
    trace(selected, "more()\n")
    answer = selected.post("sessions/s-1/traces", {"path": PATH, "content_hash": "DELETED"})
    assert blamed(selected)["deleted"]["origin"]["entry_id"] == answer.json()["id"]
    assert "<b>Deleted</b>" in builders.signed_in(ivy).get(PAGE).content.decode()


def test_the_page_fetches_the_lines_and_is_whole_without_scripts(repo, selected, ivy):
    trace(selected, "by_hand()\nlogin(user)\n")
    repo.commit(PATH, "by_hand()\nlogin(user)\n# mine\n", at=later(1))
    client = builders.signed_in(ivy)
    page = client.get(PAGE).content.decode()
    assert 'hx-get="?fragment=lines"' in page
    assert page.count("no recorded change matches") == 2  # of its three lines, the first and the last
    fragment = client.get(f"{PAGE}?fragment=lines").content.decode()
    assert "hx-get" not in fragment
    assert "<html" not in fragment
    assert "not recorded" in fragment
    assert "INT-001" in fragment
    assert 'hx-get="?fragment=lines"' not in client.get(f"{PAGE}?history=1").content.decode()


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "src/../src/auth/login.py", ".git/config"])
def test_a_name_that_leads_elsewhere_shows_nothing(repo, selected, ivy, path):
    repo.write("../outside.py", "secret\n")
    fragment = builders.signed_in(ivy).get(f"/w/acme/traces/map/file/{path}?fragment=lines")
    assert "<table" not in fragment.content.decode() or path == ".git/config"
    assert selected.get("files/blame?path=../outside.py").status_code == 400


def test_when_the_repository_takes_too_long_the_page_says_so_and_shows_what_hashes_prove(
    repo, selected, ivy, monkeypatch
):
    entry = trace(selected, "by_hand()\nlogin(user)\n")
    repo.commit(PATH, "by_hand()\nlogin(user)\n", at=later(1))
    monkeypatch.setattr(file_history.GitReader, "__init__", _no_time(file_history.GitReader.__init__))
    found = blamed(selected)
    assert spans(found) == [(1, 1, "unclaimed", None), (2, 2, "in_place", entry)]
    assert (found["followed"], found["note"]) == (False, file_history.TOO_SLOW)
    page = builders.signed_in(ivy).get(f"{PAGE}?fragment=lines").content.decode()
    assert "took longer than 2 seconds" in page


def _no_time(made):
    return lambda self, root, seconds=0.0: made(self, root, 0.0)


def test_binary_files_and_files_that_git_does_not_hold_are_held_against_hashes(repo, selected):
    repo.commit("logo.png", b"\x89PNG\0\0one\ntwo", at=later(1))
    assert blamed(selected, "logo.png")["note"] == file_history.BINARY
    repo.write("new.py", "fresh()\n")
    entry = trace(selected, "fresh()\n", "new.py")
    found = blamed(selected, "new.py")
    assert (found["note"], spans(found)) == (file_history.NOT_COMMITTED, [(1, 1, "in_place", entry)])


def test_following_costs_the_same_queries_however_many_entries_there_are(
    repo, selected, ivy, django_assert_num_queries
):
    client = builders.signed_in(ivy)
    client.get("/w/acme/")  # reads the stops, once for each revision of the workspace
    text = "by_hand()\n"
    counts = []
    for number in range(12):
        text += f"step_{number}(user)\n"
        trace(selected, text, start_line=number + 2, end_line=number + 2)
        repo.commit(PATH, text, at=later(number + 1))
        if number in {0, 11}:
            with django_assert_num_queries(7):
                counts.append(client.get(f"{PAGE}?fragment=lines").content.decode().count("<tr>"))
    assert counts[1] > counts[0]


def test_a_stranger_learns_nothing_of_the_repository(repo, selected, max_):
    stranger = builders.speaker(Workspace.objects.get(slug="elsewhere"))
    assert stranger.get(f"files/blame?path={PATH}").status_code == 404
    assert builders.signed_in(max_).get(f"{PAGE}?fragment=lines").status_code == 404


TEN = "".join(f"line_{number}()\n" for number in range(10))


def test_an_agent_that_only_takes_a_line_out_of_a_persons_file_owns_none_of_it(repo, selected):
    repo.commit(PATH, TEN, at=later(-5))
    shorter = TEN.replace("line_4()\n", "")
    trace(selected, shorter)
    repo.write(PATH, shorter)
    assert spans(blamed(selected)) == [(1, 9, "unclaimed", None)]


def test_an_agent_that_writes_a_persons_file_as_it_is_owns_none_of_it(repo, selected):
    repo.commit(PATH, TEN, at=later(-5))
    trace(selected, TEN)
    assert spans(blamed(selected)) == [(1, 10, "unclaimed", None)]


def test_of_a_file_that_an_agent_writes_anew_it_owns_what_it_brought(repo, selected):
    repo.commit(PATH, TEN, at=later(-5))
    longer = TEN.replace("line_4()\n", "line_4()\nadded()\n")
    entry = trace(selected, longer)
    repo.write(PATH, longer)
    assert spans(blamed(selected)) == [
        (1, 5, "unclaimed", None), (6, 6, "in_place", entry), (7, 11, "unclaimed", None),
    ]  # fmt: skip
