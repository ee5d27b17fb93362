"""Starters: told by files, taken over on request, and fit to be a policy."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from controlplane.models import Workspace
from controlplane.policy.globs import parse
from controlplane.policy.globs.intentignore import IgnoreRules
from controlplane.policy.globs.scope import Scope
from controlplane.policy.rules import policy_document
from controlplane.policy.shell import analyse
from controlplane.shared.starters import AGENT_STARTERS, STARTERS, detect_starter
from intents.rules import recommendations
from tests import builders
from traces.models import LedgerEntry


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (["package.json", "README.md"], "node"),
        (["pyproject.toml"], "python"),
        (["requirements.txt"], "python"),
        (["go.mod"], "go"),
        (["Cargo.toml", "package.json"], "rust"),
        (["build.gradle.kts"], "java"),
        (["README.md"], "generic"),
    ],
)
def test_a_repository_is_told_by_the_files_at_its_top(tmp_path, files, kind):
    for name in files:
        (tmp_path / name).touch()
    assert detect_starter(tmp_path).kind == kind


def test_a_folder_that_is_not_there_tells_nothing(tmp_path):
    assert detect_starter(tmp_path / "nowhere").kind == "generic"


@pytest.mark.parametrize("starter", STARTERS.values(), ids=STARTERS)
def test_a_starter_makes_a_policy_that_can_be_read(starter):
    assert [
        parse.find_problem(path) for path in starter.all_protected_paths if parse.find_problem(path)
    ] == []
    policy_document.parse(
        {"protected_paths": [*starter.all_protected_paths], "safe_commands": [*starter.safe_commands]}
    )


@pytest.mark.parametrize("starter", STARTERS.values(), ids=STARTERS)
def test_secrets_are_held_off_and_examples_are_not(starter):
    rules = IgnoreRules.parse(starter.intentignore)
    for path in (".env", "api/.env.production", "keys/server.pem", "home/id_ed25519"):
        assert rules.find_rule(path), path
    for path in (".env.example", "src/environment.ts", "docs/keys.md"):
        assert not rules.find_rule(path), path


@pytest.mark.parametrize("starter", STARTERS.values(), ids=STARTERS)
def test_pipelines_are_protected(starter):
    protected = Scope.from_patterns(starter.all_protected_paths, case_insensitive=True)
    assert protected.matches(".github/workflows/ci.yml")
    assert not protected.matches("src/main.py")


@pytest.mark.parametrize("starter", STARTERS.values(), ids=STARTERS)
def test_safe_commands_are_those_words_and_no_more(starter):
    for command in starter.safe_commands:
        assert analyse(command, safe_commands=starter.safe_commands).safe, command
        longer = analyse(f"{command} --output=src/a.txt > b.txt", safe_commands=starter.safe_commands)
        assert not longer.safe, command


@pytest.mark.django_db
def test_taking_over_adds_and_keeps_what_was_there(acme):
    acme.intentignore = "dist/\n.env*"
    acme.policy = {"safe_commands": ["make lint", "pytest"]}
    acme.save()
    added = recommendations.apply_recommendations(acme, STARTERS["python"], actor="test")
    acme.refresh_from_db()
    assert acme.intentignore.startswith("dist/\n.env*\n")
    assert acme.intentignore.count("\n.env*\n") == 1
    assert acme.policy["safe_commands"][:2] == ["make lint", "pytest"]
    assert ".git/**" in acme.policy["protected_paths"]
    assert "**/uv.lock" in acme.policy["protected_paths"]
    assert "pytest" not in added.safe_commands
    assert not recommendations.apply_recommendations(acme, STARTERS["python"], actor="test")


@pytest.mark.django_db
def test_create_workspace_takes_over_what_fits_the_local_root(tmp_path, capsys):
    (tmp_path / "go.mod").touch()
    call_command("create_workspace", "shop", "--local-root", str(tmp_path), "--starter", "auto", "--json")
    assert set(json.loads(capsys.readouterr().out)) == {"workspace", "tokens"}
    made = Workspace.objects.get(slug="shop")
    assert "go test ./..." in made.policy["safe_commands"]
    assert ".env*" in made.intentignore


@pytest.mark.django_db
def test_a_new_workspace_names_secrets_and_only_recommends_the_rest(tmp_path, capsys):
    (tmp_path / "go.mod").touch()
    call_command("create_workspace", "shop", "--local-root", str(tmp_path))
    told = capsys.readouterr().out
    assert "Recommended for Go, not set yet" in told
    assert "go test ./..." in told
    made = Workspace.objects.get(slug="shop")
    assert (made.policy, ".env*" in made.intentignore.split("\n")) == ({}, True)
    assert "id_ed25519" in made.intentignore
    assert LedgerEntry.objects.filter(workspace_id=made.pk, kind="policy").exists()


@pytest.mark.django_db
def test_the_secrets_can_be_declined(capsys):
    call_command("create_workspace", "shop", "--starter", "none")
    assert ".env*" in capsys.readouterr().out
    made = Workspace.objects.get(slug="shop")
    assert (made.policy, made.intentignore) == ({}, "")


@pytest.mark.django_db
def test_a_local_root_that_does_not_exist_is_refused(tmp_path):
    missing = str(tmp_path / "nowhere")
    with pytest.raises(CommandError, match="does not exist"):
        call_command("create_workspace", "shop", "--local-root", missing)
    assert not Workspace.objects.filter(slug="shop").exists()


@pytest.mark.django_db
def test_an_admin_takes_over_recommendations_on_the_policy_page(acme, ada, rex):
    page = builders.signed_in(ada)
    assert "Apply for Rust" in page.get("/w/acme/settings/").content.decode()
    assert page.post("/w/acme/settings/starter/", {"starter": "rust"}).status_code == 302
    acme.refresh_from_db()
    assert "cargo test" in acme.policy["safe_commands"]
    assert "Apply for Rust" not in page.get("/w/acme/settings/").content.decode()
    assert page.post("/w/acme/settings/starter/", {"starter": "cobol"}).status_code == 404
    assert builders.signed_in(rex).post("/w/acme/settings/starter/", {"starter": "go"}).status_code == 403


def test_a_local_repository_adds_its_remotes_and_its_other_work_trees(tmp_path):
    git = tmp_path / ".git"
    (git / "worktrees" / "fix").mkdir(parents=True)
    (git / "worktrees" / "fix" / "gitdir").write_text("/home/ada/shop-[fix]/.git\n")
    (git / "worktrees" / "bad").mkdir()
    (git / "config").write_text(
        '[remote "origin"]\n\turl = git@git.example.org:ada/shop.git\n'
        '[remote "up"]\n\turl = https://ada@code.example.com/shop\n\turl = ../elsewhere\n'
    )
    starter = detect_starter(tmp_path)
    assert starter.hosts[:2] == ("git.example.org", "code.example.com")
    assert {"pattern": "/home/ada/shop-\\[fix\\]/**", "access": "read"} in starter.places


@pytest.mark.parametrize("agent", AGENT_STARTERS)
def test_a_starter_for_an_agent_opens_its_own_folders_alone(agent):
    starter = AGENT_STARTERS[agent]
    assert starter.places
    assert (starter.effects, starter.hosts, starter.intentignore) == ({}, (), "")
    policy_document.parse({"places": starter.places})


@pytest.mark.parametrize("starter", STARTERS.values(), ids=STARTERS)
def test_a_starter_lets_tests_and_commits_run_and_names_its_registries(starter):
    policy = policy_document.parse(starter.policy)
    assert starter.effects == {"runs_project": "allow", "records": "allow"}
    assert "github.com" in policy.hosts
    assert any(place.access == "write" for place in policy.places)


@pytest.mark.django_db
def test_a_workspaces_own_word_on_an_effect_or_a_folder_stays(acme):
    acme.policy = {"effects": {"records": "ask"}, "places": [{"pattern": "/tmp/**", "access": "read"}]}
    acme.save()
    recommendations.apply_recommendations(acme, STARTERS["go"], actor="test")
    acme.refresh_from_db()
    assert acme.policy["effects"] == {"records": "ask", "runs_project": "allow"}
    places = [place for place in acme.policy["places"] if place["pattern"] == "/tmp/**"]
    assert places == [{"pattern": "/tmp/**", "access": "read"}]
    assert "proxy.golang.org" in acme.policy["hosts"]
