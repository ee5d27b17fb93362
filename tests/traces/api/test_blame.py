"""Blame by intent over REST."""

from __future__ import annotations

import hashlib

import pytest

from controlplane.models import Workspace
from tests import builders
from traces.ledger import merkle
from traces.ledger.checkpoints import parse_checkpoint

pytestmark = pytest.mark.django_db
PATH = "src/auth/login.ts"


@pytest.fixture
def written(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    return agent.post("sessions/s-1/traces", {"path": PATH, "content": "one\ntwo\n"}).json()["id"]


def spans(answer):
    assert answer.status_code == 200, answer.content
    return [
        (span["start_line"], span["end_line"], span["state"], (span["origin"] or {}).get("intent_id"))
        for span in answer.json()["spans"]
    ]


def test_lines_that_were_pushed_down_keep_their_intent(agent, written):
    answer = agent.post("files/blame", {"path": PATH, "content": "// mine\none\ntwo\n"})
    assert spans(answer) == [(1, 1, "unclaimed", None), (2, 3, "moved", "INT-001")]
    assert answer.json()["spans"][1]["origin"]["entry_id"] == written


def test_what_was_changed_since_is_shown_and_not_hidden(agent, written):
    answer = agent.post("files/blame", {"path": PATH, "content": "one\nTWO\n"})
    assert spans(answer) == [(1, 2, "unclaimed", None)]
    assert [one["entry_id"] for one in answer.json()["changed"]] == [written]


def test_the_file_on_disk_is_read_below_the_root_only(acme, agent, written, tmp_path):
    root = tmp_path / "root"
    (root / "src/auth").mkdir(parents=True)
    (root / PATH).write_bytes(b"one\ntwo\n")
    (tmp_path / "secret").write_bytes(b"secret\n")
    (root / "link").symlink_to(tmp_path / "secret")
    Workspace.objects.filter(pk=acme.pk).update(local_root=str(root))
    assert spans(agent.get("files/blame?path=" + PATH)) == [(1, 2, "in_place", "INT-001")]
    assert agent.get("files/blame?path=link").status_code == 404
    assert agent.get("files/blame?path=../secret").status_code == 400


def test_whose_lines_they_are_is_proven_on_request(agent, written):
    asked = {"path": PATH, "content": "one\ntwo\n"}
    assert "proof" not in agent.post("files/blame", asked).json()
    proof = agent.post("files/blame?proof=true", asked).json()["proof"]
    (entry,) = proof["entries"]
    assert entry["entry_id"] == written
    assert hashlib.sha256(b"one\ntwo\n").hexdigest() in entry["body"]
    head = parse_checkpoint(proof["checkpoint"])
    leaf = merkle.leaf_hash(entry["envelope"].encode())
    nodes = [bytes.fromhex(node) for node in entry["hashes"]]
    assert merkle.verify_inclusion(leaf, entry["seq"], head.size, nodes, head.root)


def test_without_the_file_on_disk_the_caller_is_told_to_send_it(agent, written):
    answer = agent.get("files/blame?path=" + PATH)
    assert answer.status_code == 404
    assert "POST" in answer.content.decode()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"path": PATH}, 400),
        ({"path": "../x", "content": ""}, 400),
        ({"path": PATH, "content": "x" * (1024 * 1024 + 1)}, 413),
    ],
)
def test_bad_requests_are_refused(agent, body, status):
    assert agent.post("files/blame", body).status_code == status


def test_another_workspace_sees_none_of_it(written, max_):
    stranger = builders.speaker(Workspace.objects.get(slug="elsewhere"))
    answer = stranger.post("files/blame", {"path": PATH, "content": "one\ntwo\n"})
    assert spans(answer) == [(1, 2, "unclaimed", None)]


def test_the_page_of_the_file_shows_whose_its_lines_are_now(acme, agent, written, ivy, tmp_path):
    (tmp_path / "src/auth").mkdir(parents=True)
    (tmp_path / PATH).write_bytes(b"// mine\none\ntwo\n")
    client = builders.signed_in(ivy)
    assert "Lines now" not in client.get(f"/w/acme/traces/map/file/{PATH}").content.decode()
    Workspace.objects.filter(pk=acme.pk).update(local_root=str(tmp_path))
    page = client.get(f"/w/acme/traces/map/file/{PATH}").content.decode()
    assert "no recorded change matches" in page
    assert "recorded as 1\N{EN DASH}2" in page


def post_entry(agent, entry_id, ranges, **file):
    talk = {"url": "s-9", "contributor": {"entity_type": "AI"}, "ranges": ranges}
    entry = {
        "id": entry_id, "timestamp": "2026-02-20T10:00:00Z", "vcs": {"revision_id": None},
        "files": [{"relative_path": PATH, "conversations": [talk], **file}],
    }  # fmt: skip
    answer = agent.post("traces", entry)
    assert answer.status_code < 300, answer.content


def test_a_range_without_a_hash_is_proven_by_the_hash_of_its_file(acme, agent):
    whole = "sha256:" + hashlib.sha256(b"one\ntwo\n").hexdigest()
    post_entry(agent, "e-1", [{"start_line": 2, "end_line": 2}], content_hash=whole)
    answer = agent.post("files/blame", {"path": PATH, "content": "one\ntwo\n"}).json()
    assert [(span["start_line"], span["state"]) for span in answer["spans"]] == [
        (1, "unclaimed"),
        (2, "in_place"),
    ]


def test_a_narrow_range_goes_before_a_newer_one_of_the_whole_file(agent, written, acme):
    one = "sha256:" + hashlib.sha256(b"one").hexdigest()
    post_entry(agent, "e-1", [{"start_line": 1, "end_line": 1, "content_hash": one}])
    agent.post("sessions/s-1/traces", {"path": PATH, "content": "one\ntwo\n"})
    answer = agent.post("files/blame", {"path": PATH, "content": "one\ntwo\n"}).json()
    assert [span["origin"]["entry_id"] == "e-1" for span in answer["spans"]] == [True, False]
