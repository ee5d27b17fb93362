"""The operator pages show and find what the product records, and change none of it."""

from __future__ import annotations

import io

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from controlplane.models import Membership, Role, Token, Workspace
from controlplane.pages.sign_in import MAX_GUESSES
from controlplane.shared.admin import ReadOnlyAdmin
from intents.models import Intent, IntentRevision, RegistryDocument
from sessions.models import AgentSession, Approval, ApprovalGrant
from tests.builders import PASSWORD, intent, person
from traces.models import Checkpoint, LedgerEntry

MODELS = (
    Workspace, Membership, Token, Intent, IntentRevision, RegistryDocument, AgentSession, Approval, ApprovalGrant,
    Checkpoint, LedgerEntry,
)  # fmt: skip
SIGN_INS = ("/login/", "/admin/login/")


def address_of(model, suffix=""):
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/{suffix}"


@pytest.fixture
def busy(acme, rex, agent):
    """A workspace with something of everything: a member, tokens, an intent, a session and an approval."""
    intent(acme)
    agent.select("INT-001")
    held = agent.gate("write_to_file", path="docs/a.md", content="x")
    assert held["decision"] == "ask"
    return held["approval"]["id"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_an_operator_reads_the_rows_and_finds_no_way_to_change_them(admin_client, busy, model):
    page = admin.site.get_model_admin(model)
    assert isinstance(page, ReadOnlyAdmin)
    assert admin_client.get(address_of(model)).status_code == 200
    assert admin_client.get(address_of(model, "add/")).status_code == 403
    row = model.objects.first()
    if row is not None:
        detail = admin_client.get(address_of(model, f"{row.pk}/change/"))
        assert detail.status_code == 200
        assert 'name="_save"' not in detail.content.decode()
        assert admin_client.post(address_of(model, f"{row.pk}/change/"), {}).status_code == 403
        assert admin_client.post(address_of(model, f"{row.pk}/delete/"), {"post": "yes"}).status_code == 403


@pytest.mark.parametrize(
    ("model", "term", "other"),
    [
        (Workspace, "acme", "zzz"),
        (Membership, "rex", "zzz"),
        (Token, "agent token", "zzz"),
        (Intent, "Work of INT-001", "INT-999"),
        (AgentSession, "claude-code", "zzz"),
        (Approval, "write_to_file", "zzz"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_rows_are_found_by_what_people_know_of_them(admin_client, busy, model, term, other):
    found = admin_client.get(address_of(model), {"q": term}).context["cl"].result_count
    assert found >= 1
    assert admin_client.get(address_of(model), {"q": other}).context["cl"].result_count == 0


def test_an_approval_is_found_by_its_id_and_by_its_session(admin_client, busy):
    for term in (busy, "s-1"):
        assert admin_client.get(address_of(Approval), {"q": term}).context["cl"].result_count == 1


def test_no_page_shows_the_text_or_the_digest_of_a_token(admin_client, busy, agent):
    for suffix in ("", f"{agent.token.pk}/change/"):
        page = admin_client.get(address_of(Token, suffix)).content.decode()
        assert agent.token.hint in page
        assert agent.secret not in page
        assert agent.token.digest not in page


def test_an_account_is_changed_and_never_deleted(admin_client, rex):
    address = address_of(User, f"{rex.pk}/change/")
    fields = {"username": "rex", "first_name": "Rex", "last_name": "", "email": "rex@example.org"}
    assert admin_client.post(address, fields).status_code == 302
    rex.refresh_from_db()
    assert (rex.email, rex.is_active) == ("rex@example.org", False)
    assert admin_client.post(address_of(User, f"{rex.pk}/delete/"), {"post": "yes"}).status_code == 403
    assert Membership.objects.filter(user=rex).exists()


@pytest.mark.parametrize("order", [SIGN_INS, SIGN_INS[::-1]], ids=["pages first", "admin first"])
def test_both_sign_ins_share_one_limit(client, db, order):
    first, second = order
    person("ada")
    wrong = {"username": "ada", "password": "guess"}
    for _ in range(MAX_GUESSES):
        assert client.post(first, wrong).status_code == 200
    for address in (first, second):
        answer = client.post(address, wrong | {"password": PASSWORD})
        assert answer.status_code == 429
        assert "Too many wrong passwords" in answer.content.decode()


def test_only_superusers_enter(client, ada):
    client.force_login(ada)
    assert client.get("/admin/").status_code == 302
    answer = client.post("/admin/login/", {"username": "ada", "password": PASSWORD})
    assert answer.status_code == 200


class TestSuperusers:
    def call(self, monkeypatch, *arguments, password="correct horse battery staple"):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
        call_command(*arguments)

    def test_a_workspace_comes_with_one(self, db, client, monkeypatch):
        self.call(monkeypatch, "create_workspace", "shop", "--superuser", "ada")
        ada = User.objects.get(username="ada")
        assert (ada.is_staff, ada.is_superuser) == (True, True)
        assert Membership.objects.get(user=ada).role == Role.ADMIN
        signed_in = client.post("/admin/login/?next=/admin/", {"username": "ada", "password": PASSWORD})
        assert signed_in["Location"] == "/admin/"
        assert client.get("/admin/").status_code == 200

    def test_the_name_may_be_left_out(self, db, monkeypatch):
        self.call(monkeypatch, "create_workspace", "shop", "--superuser")
        assert User.objects.get(username="admin").is_superuser

    def test_a_password_that_is_too_easy_creates_nothing(self, db, monkeypatch):
        with pytest.raises(CommandError):
            self.call(monkeypatch, "create_workspace", "shop", "--superuser", "ada", password="123")
        assert not Workspace.objects.exists()
        assert not User.objects.exists()

    def test_a_member_becomes_one_and_stays_a_member(self, acme, rex):
        call_command("add_member", "acme", "rex", "reviewer", "--superuser")
        rex.refresh_from_db()
        assert rex.is_superuser
        assert Membership.objects.get(user=rex).role == Role.REVIEWER

    def test_nobody_becomes_one_unasked(self, acme, rex):
        call_command("add_member", "acme", "rex", "admin")
        rex.refresh_from_db()
        assert not rex.is_superuser
