"""The set-up page: once, for whoever has the token, and all or nothing."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controlplane.models import Membership, Token, Workspace
from controlplane.shared.setup_token import find_setup_token
from intents.models import Intent
from tests import builders

pytestmark = pytest.mark.django_db
FORM = {
    "username": "ada", "password": "correct horse battery staple", "workspace": "acme", "folder": "",
    "intent": "Sign-in", "patterns": "src/auth/**\n\n tests/** ",
}  # fmt: skip


def post(client=None, **fields):
    return (client or Client()).post("/setup/", {"token": find_setup_token(), **FORM, **fields})


def test_one_form_leads_from_nothing_to_the_page_that_connects_an_agent(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    client = Client()
    page = client.get("/setup/", {"token": find_setup_token()})
    assert (page.status_code, page.headers["Referrer-Policy"]) == (200, "same-origin")
    response = post(client, folder=str(tmp_path))
    assert response.headers["Location"] == "/w/acme/connect/"
    membership = Membership.objects.get()
    assert (membership.user.username, membership.role) == ("ada", "admin")
    assert membership.user.is_superuser
    workspace = membership.workspace
    assert workspace.local_root == str(tmp_path)
    assert ".env*" in workspace.intentignore
    assert workspace.policy["safe_commands"]
    assert Intent.objects.get().owned_scope == ["src/auth/**", "tests/**"]
    assert Token.objects.count() == 0
    shown = client.get("/w/acme/connect/").content.decode()
    assert "Start the agent in the repository" in shown


def test_the_token_counts_until_the_first_account_exists():
    token = find_setup_token()
    assert token
    post()
    assert find_setup_token() == ""
    assert Client().get("/setup/", {"token": token}).status_code == 404
    assert Client().post("/setup/", {**FORM, "token": token, "workspace": "other"}).status_code == 404
    assert Workspace.objects.count() == User.objects.count() == 1


@pytest.mark.parametrize("token", ["", "0" * 32, "\N{SNOWMAN}"])
def test_nothing_without_the_token(token):
    assert Client().get("/setup/", {"token": token}).status_code == 404
    assert Client().post("/setup/", {**FORM, "token": token}).status_code == 404
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("password", "1234", "too short"),
        ("workspace", "Not A Slug", "lower-case letters"),
        ("folder", "/does/not/exist", "does not exist"),
        ("patterns", "../x", "../x"),
        ("username", "a b", "valid username"),
    ],
)
def test_a_mistake_is_said_and_leaves_nothing(field, value, words):
    response = post(**{field: value})
    assert response.status_code == 200
    assert words in response.content.decode()
    assert (User.objects.count(), Workspace.objects.count()) == (0, 0)


def test_connect_shows_what_has_been_seen_of_an_agent(acme, at_work, ada):
    client = builders.signed_in(ada)
    at_work.gate("Read", file_path="README.md")
    steps = client.get("/w/acme/connect/").context["steps"]
    assert [bool(step.at) for step in steps] == [True, True, False]
    at_work.gate("Read", file_path="../canary", session="canary", root="/srv/acme", cwd="/srv/acme")
    steps = client.get("/w/acme/connect/").context["steps"]
    assert [bool(step.at) for step in steps] == [True, True, True]
