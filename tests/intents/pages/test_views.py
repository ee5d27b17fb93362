"""The intent pages, as Ada (admin), Rex (reviewer), Ivy (auditor) and Max (a stranger) meet them."""

from __future__ import annotations

import pytest
from django.test import Client

from controlplane.models import Workspace
from controlplane.policy.rules import constraints
from intents.models import Intent, IntentRevision
from intents.pages.forms import IntentForm
from tests import builders
from traces.models import LedgerEntry

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


@pytest.mark.parametrize(
    ("query", "intent_id"),
    [({"q": "DOCS"}, "INT-002"), ({"status": "PENDING"}, "INT-001"), ({"q": "int-001"}, "INT-001")],
    ids=["pattern", "status", "id"],
)
def test_the_list_can_be_narrowed(acme, page, query, intent_id):
    builders.intent(acme, owned_scope=["src/auth/**"])
    builders.intent(acme, "INT-002", owned_scope=["docs/**"], status="BLOCKED")
    assert [row["id"] for row in page.get(BASE, query).context["intents"]] == [intent_id]


def test_an_empty_registry_says_what_to_do(page):
    assert "Until you add an intent, every call is denied" in page.get(BASE).content.decode()


READ = ["", "INT-001/", "export/"]
EDIT = ["new/", "import/", "INT-001/edit/"]
POST_ONLY = ["INT-001/move/", "INT-001/scope/"]


@pytest.mark.parametrize("path", READ)
@pytest.mark.parametrize("name", ["rex", "ivy"])
def test_reviewers_and_auditors_may_look(request, auth, name, path):
    client = builders.signed_in(request.getfixturevalue(name))
    assert client.get(f"{BASE}{path}").status_code == 200


@pytest.mark.parametrize("path", [*EDIT, *POST_ONLY])
@pytest.mark.parametrize("name", ["rex", "ivy"])
def test_reviewers_and_auditors_change_nothing(request, auth, name, path):
    client = builders.signed_in(request.getfixturevalue(name))
    assert client.get(f"{BASE}{path}").status_code == (405 if path in POST_ONLY else 403)
    answer = client.post(f"{BASE}{path}", {"name": "x", "status": "BLOCKED", "scope": "x", "version": "1"})
    assert answer.status_code == 403
    assert Intent.objects.get().version == 1


@pytest.mark.parametrize("path", [*READ, *EDIT])
def test_a_stranger_finds_nothing(max_, auth, path):
    client = builders.signed_in(max_)
    assert client.get(f"{BASE}{path}").status_code == 404
    assert client.get("/w/elsewhere/intents/INT-001/").status_code == 404


@pytest.mark.parametrize("path", [*EDIT, *POST_ONLY])
def test_a_stranger_posts_to_nothing(max_, auth, path):
    answer = builders.signed_in(max_).post(f"{BASE}{path}", {"status": "BLOCKED", "scope": "x"})
    assert answer.status_code == 404


@pytest.mark.parametrize("path", ["", "INT-001/", "INT-001/edit/"])
def test_a_page_shows_hostile_texts_as_texts(acme, page, path):
    builders.intent(acme, name=HOSTILE, description=HOSTILE, constraints=[HOSTILE], extra_field=HOSTILE)
    assert "<script>alert" not in page.get(f"{BASE}{path}").content.decode()


def test_the_page_says_that_nobody_owns_an_intent_and_that_no_reason_was_given(acme, page):
    builders.intent(acme, status="BLOCKED")
    text = page.get(f"{BASE}INT-001/").content.decode()
    assert "<dd>nobody</dd>" in text
    assert "No reason was given." in text


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
        ({"status": "COMPLETED", "version": "7"}, "Someone else changed the intent"),
        ({"status": "COMPLETED"}, "Someone else changed the intent"),
    ],
    ids=["not allowed", "unknown status", "stale version", "no version"],
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
        ("docs/**", "9", "Someone else changed the intent"),
    ],
    ids=["outside", "empty", "stale version"],
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
    assert list(answer.context["scope_preview"]["matches"]) == ["docs/a.md"]
    assert "1 known files match, 1 of them added" in answer.content.decode()


@pytest.mark.parametrize("status", ["PENDING", "IN_PROGRESS", "BLOCKED"])
def test_editor_and_card_warn_of_the_same_overlap(acme, page, auth, agent, status):
    fields = {"blocked_reason": "Waits"} if status == "BLOCKED" else {}
    builders.intent(acme, "INT-003", status=status, owned_scope=["src/models/**"], **fields)
    agent.select("INT-001")
    asked = agent.post("sessions/s-1/request-scope", {"patterns": ["src/models/User.ts"], "reason": "Names"})
    text = page.post(
        f"{BASE}INT-001/scope-preview/", {"scope": "src/auth/**\nsrc/models/User.ts"}
    ).content.decode()
    card = page.get(f"/w/acme/approvals/{asked.json()['id']}/").content.decode()
    assert "New overlap with INT-003" in text
    assert "Overlaps INT-003" in card


FORM = {
    "id": "INT-007",
    "name": "Rate limits",
    "scope": "src/limits/**",
    "constraints": 'Use Redis\n{"type": "max_file_lines", "max_lines": 400}',
    "acceptance_criteria": "Tests pass",
    "dependencies": "",
    "references": "",
}


def test_ada_registers_an_intent(page, acme):
    assert page.post(f"{BASE}new/", FORM).status_code == 302
    row = Intent.objects.get()
    assert row.constraints == ["Use Redis", {"type": "max_file_lines", "max_lines": 400}]
    again = page.post(f"{BASE}new/", FORM)
    assert "registered already" in again.content.decode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "int-7"}, "is not of the form"),
        ({"scope": "src/"}, "src/**"),
        ({"constraints": "{broken"}, "Line 1 begins like JSON"),
        ({"constraints": '{"type": "max_file_lines", "value": 400}'}, "max_lines"),
        ({"dependencies": "INT-404"}, "not registered"),
    ],
    ids=["id", "scope", "constraints", "constraint that cannot be checked", "dependencies"],
)
def test_what_the_registry_refuses_stands_beside_its_field(page, acme, change, words):
    answer = page.post(f"{BASE}new/", FORM | change)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Intent.objects.exists()


def test_the_example_of_the_form_can_be_saved(page, acme):
    hint = str(IntentForm.base_fields["constraints"].help_text)
    assert page.post(f"{BASE}new/", FORM | {"constraints": hint[hint.index("{") :]}).status_code == 302
    assert constraints.is_structured(Intent.objects.get().constraints[0])


def test_a_constraint_that_the_gate_does_not_check_is_warned_of(page, acme):
    rules = ['{"type": "TECHNICAL", "rule": "x"}', '{"type": "no_new_dependency"}']
    answer = page.post(f"{BASE}new/", FORM | {"constraints": "\n".join(rules)}, follow=True)
    text = answer.content.decode()
    # Once as the message after saving, once with the constraint.
    assert text.count("The constraint type &#x27;TECHNICAL&#x27; is unknown") == 2
    assert "TECHNICAL, checked by the gate" not in text
    assert "no_new_dependency, checked by the gate" in text


def test_a_stored_constraint_that_cannot_be_checked_is_marked(acme, page):
    row = builders.intent(acme)
    Intent.objects.filter(pk=row.pk).update(constraints=[{"type": "max_file_lines", "value": 400}])
    text = page.get(f"{BASE}INT-001/").content.decode()
    assert "the gate denies every write to its files: `max_lines`" in text
    assert "max_file_lines, checked by the gate" not in text


def test_the_import_page_warns_of_a_constraint_that_the_gate_does_not_check(acme, page):
    row = "{id: INT-001, status: PENDING, owned_scope: [a], constraints: [{type: TECHNICAL, rule: x}]}"
    answer = page.post(f"{BASE}import/", {"text": f"active_intents:\n- {row}\n", "step": "check"})
    assert "UNKNOWN_CONSTRAINT_TYPE" in answer.content.decode()


def test_the_form_keeps_fields_that_it_does_not_show(acme, page):
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
    assert "Someone else changed the intent" in stale.content.decode()


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


@pytest.fixture
def proven(acme, at_work):
    """INT-001 with one of two criteria claimed: by a change, a command, a hostile note and one from elsewhere."""
    Intent.objects.update(acceptance_criteria=["It works", "It is fast"])
    at_work.post("sessions/s-1/traces", {"path": "src/auth/a.ts", "content": "x\n"})
    at_work.gate("Bash", command="git status")
    evidence = [
        {"type": "trace", "path": "src/auth/a.ts"},
        {"type": "command", "command": "git status", "exit_status": 0},
        {"type": "note", "text": HOSTILE},
    ]
    claims = [{"criterion": 1, "evidence": evidence}]
    body = {"verification_notes": "Done", "acceptance_evidence": claims}
    assert at_work.post("sessions/s-1/complete-intent", body).status_code == 200
    intent = Intent.objects.get()
    elsewhere = {"type": "trace", "id": "of-another-ledger", "path": "src/b.ts"}
    intent.acceptance_evidence[0]["evidence"].append(elsewhere)
    intent.save()
    return intent


def test_the_page_shows_what_proves_each_criterion(page, proven):
    text = page.get(f"{BASE}INT-001/").content.decode()
    assert "0 of 2 met" in text
    for entry, words in (
        (LedgerEntry.objects.get(kind="trace"), "src/auth/a.ts"),
        (LedgerEntry.objects.get(tool="Bash"), "git status"),
    ):
        assert f'<a href="/w/acme/traces/?entry={entry.pk}"><code><bdi>{words}</bdi></code></a>' in text
    assert "<code><bdi>src/b.ts</bdi></code> (not in this ledger)" in text
    assert "claimed by <bdi>claude-code</bdi>" in text
    assert "not confirmed yet" in text
    assert "No evidence" in text
    assert HOSTILE not in text


def test_ada_confirms_the_claims_of_an_intent_that_she_completes(page, proven):
    page.post(f"{BASE}INT-001/move/", {"status": "COMPLETED", "version": str(proven.version)})
    text = page.get(f"{BASE}INT-001/").content.decode()
    assert "1 of 2 met" in text
    assert "confirmed by <bdi>Ada</bdi>" in text
    assert page.get(BASE).context["intents"][0]["criteria_met"] == 1
    assert "1 of 2" in page.get(BASE).content.decode()


@pytest.mark.parametrize("path", ["", "INT-001/", "export/"])
def test_a_stranger_sees_no_evidence(max_, proven, path):
    answer = builders.signed_in(max_).get(f"{BASE}{path}")
    assert answer.status_code == 404
    assert "src/auth/a.ts" not in answer.content.decode()
