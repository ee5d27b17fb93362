"""The file of the folder and the registry, both ways: flows, conflicts field by field, nothing lost."""

from __future__ import annotations

import pytest
import yaml

from controlplane.policy.model import IntentStatus
from intents import registry
from intents.evidence.records import build_claim
from intents.models import Intent
from tests import builders
from tests.intents.builders import DATA

pytestmark = pytest.mark.django_db


class Folder:
    """A repository's file, and what it remembers of the last sync."""

    def __init__(self, speaker):
        self.speaker, self.text, self.base = speaker, None, {}

    def sync(self, status=200, **more):
        answer = self.speaker.post("intents/sync", {"file": self.text, "base": self.base, **more})
        assert answer.status_code == status, answer.content
        found = answer.json()
        if status == 200 and not more.get("dry_run"):
            self.base = found["base"]
            self.text = self.text if found["file"] is None else found["file"]
        return found

    def intents(self):
        return {one["id"]: one for one in yaml.safe_load(self.text)["active_intents"]}

    def change(self, intent_id, **fields):
        document = yaml.safe_load(self.text)
        for one in document["active_intents"]:
            if one["id"] == intent_id:
                one.update(fields)
        self.text = "# by hand\n" + yaml.safe_dump(document)


@pytest.fixture
def folder(acme, admin):
    builders.intent(acme)
    builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    made = Folder(admin)
    made.sync()
    return made


def registered(intent_id="INT-001"):
    return Intent.objects.get(intent_id=intent_id)


def edit(admin, **fields):
    answer = admin.patch("intents/INT-001", {"version": registered().version, **fields})
    assert answer.status_code == 200, answer.content


def test_a_new_folder_gets_the_registry_and_a_second_run_changes_nothing(folder):
    assert set(folder.intents()) == {"INT-001", "INT-002"}
    version, text = registered().version, folder.text
    again = folder.sync()
    assert again["file"] is None
    assert again["plan"]["changed"] == again["plan"]["added"] == again["plan"]["removed"] == []
    assert (registered().version, folder.text) == (version, text)


def test_a_change_in_the_folder_flows_to_the_registry_and_leaves_the_bytes_alone(folder):
    folder.change("INT-001", name="Renamed", unknown={"kept": [1, None]})
    text = folder.text
    assert folder.sync()["conflicts"] == []
    assert (registered().name, registered().extra) == ("Renamed", {"unknown": {"kept": [1, None]}})
    assert folder.text == text


def test_a_change_in_the_registry_flows_to_the_folder(folder, admin):
    edit(admin, owned_scope=["src/new/**"])
    folder.sync()
    assert folder.intents()["INT-001"]["owned_scope"] == ["src/new/**"]


def test_changes_of_different_fields_are_merged(folder, admin):
    edit(admin, owned_scope=["src/new/**"])
    folder.change("INT-001", name="Renamed")
    assert folder.sync()["conflicts"] == []
    one = folder.intents()["INT-001"]
    assert (one["name"], one["owned_scope"]) == ("Renamed", ["src/new/**"])
    assert (registered().name, registered().owned_scope) == ("Renamed", ["src/new/**"])


@pytest.mark.parametrize("prefer", ["registry", "folder"])
def test_a_change_on_both_sides_is_shown_and_neither_is_lost(folder, admin, prefer):
    edit(admin, name="Of the registry")
    folder.change("INT-001", name="Of the folder")
    folder.change("INT-002", name="Flows nonetheless")
    before = folder.base["INT-001"]["name"]
    for _ in range(2):
        (conflict,) = folder.sync()["conflicts"]
        assert conflict == {
            "intent_id": "INT-001", "field": "name", "base": before,
            "registry": "Of the registry", "folder": "Of the folder",
        }  # fmt: skip
        assert registered().name == "Of the registry"
        assert folder.intents()["INT-001"]["name"] == "Of the folder"
        assert registered("INT-002").name == "Flows nonetheless"
    assert folder.sync(prefer=prefer)["conflicts"] == []
    assert registered().name == folder.intents()["INT-001"]["name"] == f"Of the {prefer}"


def test_removals_flow_and_conflict_with_changes(folder, admin):
    document = yaml.safe_load(folder.text)
    document["active_intents"] = [one for one in document["active_intents"] if one["id"] == "INT-002"]
    folder.text = yaml.safe_dump(document)
    edit(admin, name="Changed")
    (conflict,) = folder.sync()["conflicts"]
    assert (conflict["field"], conflict["folder"]) == ("*", None)
    assert registered().name == "Changed"
    folder.sync(prefer="folder")
    assert not Intent.objects.filter(intent_id="INT-001").exists()
    Intent.objects.get(intent_id="INT-002")


def test_a_file_that_is_gone_is_written_again_and_removes_nothing(folder):
    folder.text = None
    folder.sync()
    assert set(folder.intents()) == {"INT-001", "INT-002"}
    assert Intent.objects.count() == 2


@pytest.mark.parametrize(
    "text",
    ["", "active_intents: [", "active_intents:\n- id: 5\n", "a: b"],
    ids=["empty", "no YAML", "no intent", "no list"],
)
def test_a_file_that_cannot_be_read_changes_nothing(folder, text):
    folder.text = text
    assert folder.sync(status=400)["error_type"]
    assert Intent.objects.count() == 2


def test_a_dry_run_changes_nothing(folder):
    folder.change("INT-001", name="Renamed")
    assert folder.sync(dry_run=True)["plan"]["changed"] == [{"intent_id": "INT-001", "fields": ["name"]}]
    assert registered().name != "Renamed"


@pytest.mark.parametrize(
    "base", [{"INT-001": 5}, {"": []}, {"INT-001": {"id": None, "name": [[]]}}, 5, {"x": {}}], ids=repr
)
def test_a_state_that_is_odd_loses_nothing(folder, base):
    answer = folder.speaker.post("intents/sync", {"file": folder.text, "base": base})
    assert answer.status_code in {200, 400}
    assert Intent.objects.count() == 2


def test_only_admins_may(folder, reviewer):
    assert reviewer.post("intents/sync", {"file": None}).status_code == 403


ODD = """\
intents:
- {id: 7, title: Seven, status: active, owned_scope: [src/]}
- {id: T8, status: Done, owned_scope: [], dependencies: ["7"]}
"""


@pytest.fixture
def odd_folder(acme, admin):
    answer = admin.post("intents/import?lenient=true", ODD.encode(), content_type="application/yaml")
    assert answer.status_code == 200, answer.content
    return Folder(admin)


def test_a_folder_is_synced_after_a_lenient_import(odd_folder, admin):
    odd_folder.sync()
    assert {one["id"]: one["status"] for one in odd_folder.intents().values()} == {
        "7": "active",
        "T8": "Done",
    }
    assert odd_folder.sync()["file"] is None
    odd_folder.change("7", name="Renamed")
    odd_folder.sync()
    assert registered("7").name == "Renamed"
    exported = admin.get("intents/export").content
    again = admin.post("intents/import?mode=replace", exported, content_type="application/yaml").json()
    assert (again["valid"], again["plan"]["unchanged"]) == (True, ["7", "T8"])
    assert admin.get("intents/export").content == exported


def test_the_file_that_was_imported_leniently_may_stay_in_the_folder(odd_folder):
    odd_folder.text = ODD
    result = odd_folder.sync()
    assert (result["conflicts"], odd_folder.text) == ([], ODD)
    odd_folder.text = ODD.replace("title: Seven", "name: Renamed")
    odd_folder.sync()
    assert registered("7").name == "Renamed"


@pytest.mark.parametrize(
    "text",
    [
        ODD.replace("status: Done", "status: todo"),
        ODD.replace("owned_scope: [src/]", "owned_scope: [lib/]"),
        f"{ODD}- {{id: 9, status: PENDING, owned_scope: [a]}}\n",
    ],
    ids=["status", "scope", "id"],
)
def test_what_is_odd_in_another_way_than_the_registry_is_still_refused(odd_folder, text):
    odd_folder.text = text
    odd_folder.sync(status=400)


def test_an_export_is_taken_by_another_workspace(odd_folder, admin):
    other = builders.speaker(builders.workspace("other"), role="admin")
    exported = admin.get("intents/export").content
    answer = other.post("intents/import", exported, content_type="application/yaml")
    assert (answer.status_code, answer.json()["plan"]["added"]) == (200, ["7", "T8"])
    assert other.get("intents/export").content == exported


REAL_FILES = sorted((DATA / "real_orchestration").glob("*/*active_intents*.yaml"))


@pytest.mark.deep
@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_real_file_goes_round_after_its_repairs(acme, admin, path):
    answer = admin.post("intents/import?lenient=true", path.read_bytes(), content_type="application/yaml")
    if answer.status_code == 400:  # test_real_files knows which and why
        return
    exported = admin.get("intents/export").content
    again = admin.post("intents/import?mode=replace", exported, content_type="application/yaml").json()
    plan = again["plan"]
    assert (again["valid"], plan["added"], plan["changed"], plan["removed"]) == (True, [], [], [])
    assert admin.get("intents/export").content == exported
    folder = Folder(admin)
    folder.sync()
    assert folder.sync()["file"] is None
    assert admin.get("intents/export").content == exported


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_real_file_may_stay_in_the_folder(acme, admin, path):
    data = path.read_bytes()
    if admin.post("intents/import?lenient=true", data, content_type="application/yaml").status_code == 400:
        return
    folder = Folder(admin)
    folder.text = data.decode()
    assert folder.sync()["conflicts"] == []
    assert folder.text == data.decode()


def test_evidence_flows_to_the_file_beside_a_change_of_the_file(folder):
    registry.move(registered(), IntentStatus.IN_PROGRESS, actor="ada")
    note = {"type": "note", "text": "Measured"}
    claim = build_claim("It works", [note], agent="codex", session_id="s-1", at="2026-01-01T00:00:00Z")
    registry.claim_criteria(registered(), [claim], actor="token:1", reason="evidence")
    folder.change("INT-001", owner="ada")
    assert folder.sync()["conflicts"] == []
    assert (registered().owner, registered().acceptance_evidence) == ("ada", [claim])
    assert folder.intents()["INT-001"]["acceptance_evidence"] == [claim]
    registry.complete(registered(), actor="ada", confirmed_by="Ada")
    folder.sync()
    (record,) = folder.intents()["INT-001"]["acceptance_evidence"]
    assert (record["status"], record["confirmed_by"]) == ("met", "Ada")
    assert folder.sync()["file"] is None
