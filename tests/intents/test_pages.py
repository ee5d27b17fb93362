"""The pages of the registry, as Ada (admin), Rex (reviewer), Ivy (auditor) and Max (a stranger) meet them."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from controlplane.models import Workspace
from intents.models import Intent, IntentRevision
from intents.pages.text_area_lists import from_lines, to_lines
from tests import builders
from tests.intents.builders import DATA, file_of, intent

BASE = "/w/acme/intents/"
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def page(acme, ada):
    return builders.signed_in(ada)


@pytest.fixture
def auth(acme):
    return builders.intent(acme, status="IN_PROGRESS")


def test_the_list_shows_every_intent_and_what_needs_attention(acme, page):
    builders.intent(acme, status="IN_PROGRESS", owned_scope=["src/**"], dependencies=[])
    builders.intent(acme, "INT-002", status="IN_PROGRESS", dependencies=["INT-001"])
    text = page.get(BASE).content.decode()
    assert "INT-001" in text
    assert "Overlaps INT-002" in text
    assert "waits for INT-001" in text


def test_the_list_can_be_narrowed(acme, page):
    builders.intent(acme, owned_scope=["src/auth/**"])
    builders.intent(acme, "INT-002", owned_scope=["docs/**"], status="BLOCKED")
    for query, kept in (
        ({"q": "DOCS"}, "INT-002"),
        ({"status": "PENDING"}, "INT-001"),
        ({"q": "int-001"}, "INT-001"),
    ):
        shown = [row["id"] for row in page.get(BASE, query).context["intents"]]
        assert shown == [kept]


def test_an_empty_registry_says_what_to_do(page):
    assert "Until you add an intent, every call is denied" in page.get(BASE).content.decode()


def test_everybody_in_the_workspace_may_look(rex, ivy, auth):
    for person in (rex, ivy):
        client = builders.signed_in(person)
        for address in (BASE, f"{BASE}INT-001/", f"{BASE}export/"):
            assert client.get(address).status_code == 200
        for address in (f"{BASE}new/", f"{BASE}import/", f"{BASE}INT-001/edit/"):
            assert client.get(address).status_code == 403
            assert client.post(address, {"name": "x", "scope": "x"}).status_code == 403
        for address in (f"{BASE}INT-001/move/", f"{BASE}INT-001/scope/"):
            assert client.post(address, {"status": "BLOCKED", "scope": "x"}).status_code == 403
    assert Intent.objects.get().version == 1


def test_a_stranger_finds_nothing(max_, auth):
    client = builders.signed_in(max_)
    for address in (
        BASE,
        f"{BASE}INT-001/",
        f"{BASE}export/",
        f"{BASE}new/",
        f"{BASE}import/",
        f"{BASE}INT-001/edit/",
    ):
        assert client.get(address).status_code == 404
    for address in (f"{BASE}INT-001/move/", f"{BASE}INT-001/scope/"):
        assert client.post(address, {"status": "BLOCKED", "scope": "x"}).status_code == 404
    assert client.get("/w/elsewhere/intents/INT-001/").status_code == 404


def test_a_page_of_one_intent_shows_hostile_texts_as_texts(acme, page):
    builders.intent(acme, name=HOSTILE, description=HOSTILE, constraints=[HOSTILE], extra_field=HOSTILE)
    for address in (BASE, f"{BASE}INT-001/", f"{BASE}INT-001/edit/"):
        assert "<script>alert" not in page.get(address).content.decode()


def test_ada_moves_an_intent(page, auth):
    answer = page.post(
        f"{BASE}INT-001/move/", {"status": "BLOCKED", "blocked_reason": "Redis", "version": "1"}, follow=True
    )
    assert "INT-001 is blocked." in answer.content.decode()
    assert (Intent.objects.get().status, Intent.objects.get().blocked_reason) == ("BLOCKED", "Redis")
    assert IntentRevision.objects.get(number=2).author == "Ada"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"status": "PENDING", "version": "1"}, "cannot become PENDING"),
        ({"status": "WIP", "version": "1"}, "is unknown"),
        ({"status": "COMPLETED", "version": "7"}, "changed meanwhile"),
        ({"status": "COMPLETED"}, "changed meanwhile"),
    ],
)
def test_a_move_that_is_refused_says_why(page, auth, sent, words):
    answer = page.post(f"{BASE}INT-001/move/", sent, follow=True)
    assert words in answer.content.decode()
    assert Intent.objects.get().status == "IN_PROGRESS"


def test_ada_saves_a_scope(page, auth):
    page.post(f"{BASE}INT-001/scope/", {"scope": "src/auth/**\r\n\r\n!src/auth/old/**\r\n", "version": "1"})
    assert Intent.objects.get().owned_scope == ["src/auth/**", "!src/auth/old/**"]


@pytest.mark.parametrize(
    ("scope", "version", "words"),
    [
        ("src/**\n/etc/**", "1", "Line 2:"),
        ("", "1", "at least one pattern"),
        ("docs/**", "9", "changed meanwhile"),
    ],
)
def test_a_scope_that_is_refused_stays_in_the_editor(page, auth, scope, version, words):
    answer = page.post(f"{BASE}INT-001/scope/", {"scope": scope, "version": version})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert answer.context["scope_form"]["text"] == scope
    assert answer.context["scope_form"]["version"] == 1
    assert Intent.objects.get().owned_scope == ["src/auth/**"]


@pytest.mark.parametrize("ignore_case", [True, False])
def test_the_preview_compares_as_the_gate_does(acme, page, auth, ignore_case):
    builders.intent(acme, "INT-002", status="IN_PROGRESS", owned_scope=["docs/**"])
    Workspace.objects.filter(pk=acme.pk).update(policy={"case_insensitive_paths": ignore_case})
    text = page.post(f"{BASE}INT-001/scope-preview/", {"scope": "DOCS/a.md"}).content.decode()
    assert ("New overlap with INT-002" in text) is ignore_case


@pytest.mark.parametrize("ignore_case", [True, False])
def test_overlaps_are_shown_as_the_gate_compares(acme, page, auth, ignore_case):
    builders.intent(acme, "INT-002", status="IN_PROGRESS", owned_scope=["SRC/Auth/*", "!src/auth/B"])
    Workspace.objects.filter(pk=acme.pk).update(policy={"case_insensitive_paths": ignore_case})
    assert ("Overlaps INT-002" in page.get(BASE).content.decode()) is ignore_case
    overlaps = page.get(f"{BASE}INT-001/").context["overlaps"]
    assert [found["id"] for found in overlaps] == (["INT-002"] if ignore_case else [])


def test_the_preview_shows_new_overlaps(acme, page, auth):
    builders.intent(acme, "INT-002", status="IN_PROGRESS", owned_scope=["docs/**"])
    answer = page.post(f"{BASE}INT-001/scope-preview/", {"scope": "docs/a.md\n["})
    text = answer.content.decode()
    assert "New overlap with INT-002" in text
    assert "docs/a.md" in text
    assert "Line 2:" in text
    assert Intent.objects.get(intent_id="INT-001").version == 1


def test_the_preview_counts_the_files_on_disk_as_a_card_does(acme, page, auth, tmp_path):
    for name in ("docs/a.md", "docs/b.log", ".gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("*.log\n")
    Workspace.objects.filter(pk=acme.pk).update(local_root=str(tmp_path))
    answer = page.post(f"{BASE}INT-001/scope-preview/", {"scope": "docs/**"})
    assert answer.context["scope_preview"]["matches"] == ["docs/a.md"]


FORM = {
    "id": "INT-007",
    "name": "Rate limits",
    "scope": "src/limits/**",
    "constraints": 'Use Redis\n{"type": "max_file_lines", "value": 400}',
    "acceptance_criteria": "Tests pass",
    "dependencies": "",
    "references": "",
}


def test_ada_registers_an_intent(page, acme):
    assert page.post(f"{BASE}new/", FORM).status_code == 302
    row = Intent.objects.get()
    assert row.constraints == ["Use Redis", {"type": "max_file_lines", "value": 400}]
    again = page.post(f"{BASE}new/", FORM)
    assert "registered already" in again.content.decode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "int-7"}, "is not of the form"),
        ({"scope": "src/"}, "src/**"),
        ({"constraints": "{broken"}, "Line 1 begins like JSON"),
        ({"dependencies": "INT-404"}, "not registered"),
    ],
)
def test_what_the_registry_refuses_stands_beside_its_field(page, acme, change, words):
    answer = page.post(f"{BASE}new/", FORM | change)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Intent.objects.exists()


def test_the_whole_form_keeps_what_it_does_not_show(acme, page):
    builders.intent(
        acme, "INT-007", status="BLOCKED", blocked_reason="Redis", priority="high", constraints=["Two\nlines"]
    )
    shown = page.get(f"{BASE}INT-007/edit/").context["form"].initial
    assert page.post(f"{BASE}INT-007/edit/", {**shown, "owner": "ada"}).status_code == 302
    row = Intent.objects.get()
    assert (row.owner, row.status, row.blocked_reason, row.extra) == (
        "ada",
        "BLOCKED",
        "Redis",
        {"priority": "high"},
    )
    assert row.constraints == ["Two\nlines"]
    stale = page.post(f"{BASE}INT-007/edit/", {**shown, "owner": "rex"})
    assert "changed meanwhile" in stale.content.decode()


def test_an_import_is_checked_before_it_is_applied(acme, page, auth):
    text = file_of(intent("INT-001"), intent("INT-002")).decode().replace("\n", "\r\n")
    answer = page.post(f"{BASE}import/", {"text": text, "mode": "replace", "step": "check"})
    assert [(step["intent_id"], step["change"]) for step in answer.context["plan"]] == [
        ("INT-002", "added"),
        ("INT-001", "changed"),
    ]
    assert Intent.objects.count() == 1
    answer = page.post(f"{BASE}import/", {"text": text, "mode": "replace", "step": "apply"}, follow=True)
    assert "1 added, 1 changed, 0 removed." in answer.content.decode()
    assert Intent.objects.count() == 2


def test_an_invalid_file_is_reported_with_its_lines(page, acme):
    data = (DATA / "bad_input" / "y01-tab.yaml").read_bytes()
    for step in ("check", "apply"):
        answer = page.post(f"{BASE}import/", {"file": SimpleUploadedFile("a.yaml", data), "step": step})
        assert "YAML_PARSE_ERROR" in answer.content.decode()
        assert answer.context["report"].errors[0].line == 3
        assert answer.context["plan"] is None
    assert not Intent.objects.exists()


def test_a_real_file_needs_to_be_asked_for_leniently(page, acme):
    data = (DATA / "real_orchestration" / "13" / "active_intents.yaml").read_text()
    assert not page.post(f"{BASE}import/", {"text": data, "step": "check"}).context["report"].valid
    assert (
        page.post(f"{BASE}import/", {"text": data, "step": "check", "lenient": "true"})
        .context["report"]
        .valid
    )


def test_an_export_is_the_file(page, auth):
    answer = page.get(f"{BASE}export/")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="active_intents.yaml"'
    assert b'id: "INT-001"' in answer.content


def test_a_post_needs_the_csrf_token(ada, auth):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    assert client.post(f"{BASE}INT-001/move/", {"status": "BLOCKED", "version": "1"}).status_code == 403


@pytest.mark.parametrize("many", [1, 40])
def test_pages_ask_the_same_number_of_queries_for_any_number_of_intents(
    acme, page, many, django_assert_max_num_queries
):
    for number in range(1, many + 1):
        builders.intent(acme, f"INT-{number:03}", owned_scope=[f"src/{number}/**"])
    page.get(BASE)
    with django_assert_max_num_queries(14):
        page.get(BASE)
    with django_assert_max_num_queries(17):
        page.get(f"{BASE}INT-001/")


def test_items_go_through_a_text_area_unchanged():
    items = [
        "plain",
        "two\nlines",
        " blank ends ",
        '{"looks": "like JSON"}',
        {"type": "a", "n": 1},
        '"quoted"',
        "[x]",
        "über \u2028 x",
    ]
    assert from_lines(to_lines(items)) == items
