"""import_intents, export_intents, sync_orchestration: what they print, change and return."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from controlplane.policy.model import Registry
from intents.models import Intent, RegistryDocument
from intents.registry import find_registry_state
from tests import builders
from tests.intents.builders import DATA, file_of, intent


def run(name, *arguments):
    out = StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue()


def test_an_import_reports_plans_and_does(acme, tmp_path):
    file = tmp_path / "active_intents.yaml"
    file.write_bytes(file_of(intent("INT-001"), intent("INT-002", priority="high")))
    out = run("import_intents", str(file), "--workspace", "acme")
    assert "UNKNOWN_FIELD" in out
    assert "add     INT-001" in out
    assert out.endswith("2 to add, 0 to change, 0 to remove, 0 unchanged: imported.\n")
    assert Intent.objects.count() == 2


def test_an_invalid_file_fails_with_its_lines(acme):
    out = StringIO()
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command(
            "import_intents", str(DATA / "bad_input" / "y01-tab.yaml"), "--workspace", "acme", stdout=out
        )
    assert "error   line 3      YAML_PARSE_ERROR" in out.getvalue()


def test_a_dry_run_in_json(acme):
    path = str(DATA / "real_orchestration" / "13" / "active_intents.yaml")
    out = json.loads(run("import_intents", path, "--workspace", "acme", "--lenient", "--dry-run", "--json"))
    assert (out["valid"], out["applied"], out["plan"]["added"]) == (
        True,
        False,
        ["INT-001", "INT-002", "INT-003"],
    )
    assert not Intent.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import_intents", "x", "--workspace", "acne"), "Known: acme"),
        (("import_intents", "/nowhere", "--workspace", "acme"), "cannot be read: No such file"),
        (("export_intents", "--workspace", "acme", "--output", "/nowhere/file"), "cannot be written"),
    ],
    ids=["workspace", "file to read", "file to write"],
)
def test_an_unknown_name_is_reported(acme, arguments, message):
    with pytest.raises(CommandError, match=message):
        run(*arguments)


def test_an_export_goes_to_a_file_or_to_the_screen(acme, tmp_path):
    builders.intent(acme)
    text = run("export_intents", "--workspace", "acme")
    run("export_intents", "--workspace", "acme", "--output", str(tmp_path / "out.yaml"))
    assert (tmp_path / "out.yaml").read_text() == text
    assert text.startswith("active_intents:\n")


@pytest.fixture
def folder(acme, tmp_path):
    acme.local_root = str(tmp_path)
    acme.save()
    (tmp_path / ".orchestration").mkdir()
    return tmp_path / ".orchestration" / "active_intents.yaml"


def test_the_folder_rules_the_registry(acme, folder):
    folder.write_bytes(file_of(intent("INT-001"), intent("INT-002")))
    assert run("sync_orchestration", "--workspace", "acme") == "ok: 2 added, 0 changed, 0 removed\n"
    folder.write_bytes(file_of(intent("INT-002")))
    assert run("sync_orchestration", "--workspace", "acme") == "ok: 0 added, 0 changed, 1 removed\n"
    assert find_registry_state(acme.pk) is Registry.OK


def test_a_corrupt_file_is_told_with_its_line_and_keeps_the_intents(acme, folder):
    folder.write_bytes(file_of(intent("INT-001")))
    run("sync_orchestration", "--workspace", "acme")
    acme.refresh_from_db()
    before = acme.revision
    folder.write_bytes(b"active_intents:\n- id: INT-001\n\tname: A\n")
    with pytest.raises(CommandError, match=r"corrupt: Line 3: "):
        run("sync_orchestration", "--workspace", "acme")
    assert find_registry_state(acme.pk) is Registry.CORRUPT
    acme.refresh_from_db()
    assert acme.revision > before
    assert Intent.objects.count() == 1
    folder.unlink()
    with pytest.raises(CommandError, match="missing"):
        run("sync_orchestration", "--workspace", "acme")
    assert find_registry_state(acme.pk) is Registry.MISSING
    folder.mkdir()
    with pytest.raises(CommandError, match=r"corrupt: .*cannot be read"):
        run("sync_orchestration", "--workspace", "acme")


def test_syncing_can_be_stopped(acme, folder):
    with pytest.raises(CommandError):
        run("sync_orchestration", "--workspace", "acme")
    assert "not synced" in run("sync_orchestration", "--workspace", "acme", "--stop")
    assert find_registry_state(acme.pk) is Registry.EMPTY
    assert RegistryDocument.objects.get().synced is False


def test_without_a_local_root_there_is_nothing_to_sync(acme):
    with pytest.raises(CommandError, match="no local root"):
        run("sync_orchestration", "--workspace", "acme")


def test_both_ways_a_change_flows_to_where_it_was_not_made(acme, folder):
    folder.write_bytes(file_of(intent("INT-001"), intent("INT-002")))
    both = ("sync_orchestration", "--workspace", "acme", "--two-way")
    assert run(*both) == "registry: 2 added, 0 changed, 0 removed; file as it is\n"
    assert run(*both) == "registry: 0 added, 0 changed, 0 removed; file as it is\n"
    Intent.objects.filter(intent_id="INT-001").update(name="Of the registry")
    assert run(*both, "--dry-run").endswith("file to be written\n")
    assert b"Of the registry" not in folder.read_bytes()
    assert run(*both).endswith("file written\n")
    assert b"Of the registry" in folder.read_bytes()
    assert run(*both).endswith("file as it is\n")


def test_both_ways_a_conflict_is_told_and_loses_nothing(acme, folder):
    folder.write_bytes(file_of(intent("INT-001")))
    both = ("sync_orchestration", "--workspace", "acme", "--two-way")
    run(*both)
    Intent.objects.update(name="Of the registry")
    folder.write_bytes(file_of(intent("INT-001", name="Of the folder")))
    with pytest.raises(CommandError, match="1 conflicts"):
        run(*both)
    assert Intent.objects.get().name == "Of the registry"
    assert b"Of the folder" in folder.read_bytes()
    run(*both, "--prefer", "folder")
    assert Intent.objects.get().name == "Of the folder"


@pytest.mark.parametrize(
    "state", ["{", "[]", '{"intents": {"INT-001": 5}}'], ids=["no JSON", "no object", "no document"]
)
def test_both_ways_a_state_that_is_no_state_is_told(acme, folder, state):
    folder.write_bytes(file_of(intent("INT-001")))
    folder.with_name(".icp-sync.json").write_text(state)
    with pytest.raises(CommandError, match="remove it"):
        run("sync_orchestration", "--workspace", "acme", "--two-way")
    assert not Intent.objects.exists()
