"""The file of the folder and the registry, both ways: flows, conflicts field by field, nothing lost."""

from __future__ import annotations

import pytest
import yaml

from intents.models import Intent
from tests import builders

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
