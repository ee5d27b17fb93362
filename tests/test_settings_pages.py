"""Settings: every member reads, admins change, and every change is an entry of the ledger."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User

from controlplane.models import Membership, Role, Token, Workspace
from controlplane.pages.settings import members
from controlplane.pages.settings.policy_form import ChoiceField, PolicyForm
from controlplane.policy.model import Policy
from controlplane.policy.rules.policy_document import APPROVABLE_TYPES, find_problems, to_document
from tests.builders import intent, person, signed_in, speaker
from traces.ledger.append import read_body
from traces.models import LedgerEntry

PAGES = ["", "intentignore/", "members/", "tokens/", "outlets/", "ledger/"]


def settings_of(workspace, page=""):
    return f"/w/{workspace.slug}/settings/{page}"


def version_on(client, address):
    return re.search(r'name="version" value="(\d+)"', client.get(address).content.decode())[1]


def policy_post(client, workspace, **changes):
    """The whole form as a browser sends it, with some fields changed."""
    address = settings_of(workspace)
    document = to_document(Policy()) | changes
    posted = {"version": version_on(client, address)}
    for field in PolicyForm(document=document):
        if field.widget_type == "checkbox":
            posted |= {field.name: "true"} if field.value() else {}
        else:
            posted[field.name] = field.value()
    return client.post(address, posted)


def newest(workspace, kind="policy"):
    entry = LedgerEntry.objects.filter(workspace_id=workspace.pk, kind=kind).order_by("-pk").first()
    return entry.outcome, read_body(entry)


@pytest.mark.parametrize("page", PAGES)
def test_every_member_reads_the_settings(acme, ada, rex, ivy, page):
    for someone in (ada, rex, ivy):
        assert signed_in(someone).get(settings_of(acme, page)).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_max_the_stranger_finds_no_settings(acme, max_, page):
    assert signed_in(max_).get(settings_of(acme, page)).status_code == 404
    assert signed_in(max_).post(settings_of(acme, page)).status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_rex_and_ivy_change_nothing(acme, rex, ivy, page):
    for someone in (rex, ivy):
        assert signed_in(someone).post(settings_of(acme, page), {"action": "create"}).status_code == 403
    assert not LedgerEntry.objects.filter(workspace_id=acme.pk).exists()


class TestPolicy:
    def test_the_form_names_every_key_and_every_approvable_type(self):
        fields = PolicyForm.base_fields
        assert set(fields) == set(to_document(Policy()))
        assert {value for value, _ in fields["approvable"].choices} == set(APPROVABLE_TYPES)

    def test_every_key_is_in_one_fieldset(self):
        names = [name for _, names in PolicyForm.FIELDSETS for name in names]
        assert sorted(names) == sorted(PolicyForm.base_fields)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            (key, value)
            for key, field in PolicyForm.base_fields.items()
            if isinstance(field, ChoiceField)
            for value, _ in field.choices
        ],
    )
    def test_every_choice_is_allowed_by_the_rules(self, key, value):
        assert find_problems({key: value}) == ()

    def test_saving_the_form_as_it_is_changes_nothing(self, acme, ada):
        assert policy_post(signed_in(ada), acme).status_code == 302
        acme.refresh_from_db()
        assert (acme.policy, acme.revision) == ({}, 1)

    def test_ada_changes_every_kind_of_field(self, acme, ada):
        changes = {
            "enforcement": "monitor",
            "session_idle_minutes": 5,
            "require_content_hash": True,
            "tool_classes": {"mcp__github__get_*": "SAFE"},
            "safe_commands": ["npm test"],
            "approvable": ["STALE_FILE"],
        }
        assert policy_post(signed_in(ada), acme, **changes).status_code == 302
        acme.refresh_from_db()
        assert acme.policy == changes
        assert acme.revision == 2
        outcome, body = newest(acme)
        assert (outcome, body["after"]) == ("changed", changes)

    def test_a_change_holds_from_the_next_call(self, acme, ada, agent):
        intent(acme)
        agent.select("INT-001")
        assert agent.gate("write_to_file", path="docs/a.md", content="x")["decision"] == "ask"
        policy_post(signed_in(ada), acme, approvable=[])
        assert agent.gate("write_to_file", path="docs/a.md", content="x")["decision"] == "deny"

    def test_nonsense_is_refused_beside_its_field_and_kept_in_the_form(self, acme, ada):
        changes = {"session_idle_minutes": "soon", "tool_classes": {"execute_command": "SAFE"}}
        answer = policy_post(signed_in(ada), acme, **changes)
        assert answer.status_code == 400
        text = answer.content.decode()
        assert "a whole number of minutes" in text
        assert "changes files or runs commands" in text
        assert "execute_command: SAFE" in text
        acme.refresh_from_db()
        assert acme.policy == {}

    def test_somebody_elses_change_is_not_overwritten_unseen(self, acme, ada):
        client = signed_in(ada)
        Workspace.objects.filter(pk=acme.pk).update(policy={"enforcement": "monitor"})
        posted = {"version": "1", "enforcement": "off"}
        assert client.post(settings_of(acme), posted).status_code == 409
        acme.refresh_from_db()
        assert acme.policy == {"enforcement": "monitor"}


class TestIntentignore:
    def save(self, client, workspace, text, version=None):
        address = settings_of(workspace, "intentignore/")
        posted = {"action": "save", "text": text, "version": version or version_on(client, address)}
        return client.post(address, posted)

    def test_ada_saves_and_the_next_call_obeys(self, acme, ada, agent):
        intent(acme)
        assert agent.gate("read_file", path="secrets/key.pem")["decision"] == "allow"
        assert self.save(signed_in(ada), acme, "secrets/\r\n").status_code == 302
        acme.refresh_from_db()
        assert acme.intentignore == "secrets/\n"
        assert newest(acme)[1]["what"] == "intentignore"
        refused = agent.gate("read_file", path="secrets/key.pem")
        assert (refused["error_type"], refused["decision"] == "allow") == ("INTENTIGNORE_PATH_BLOCKED", False)

    def test_a_path_is_tried_against_text_that_is_not_saved(self, acme, ada):
        posted = {"action": "test", "text": "secrets/", "path": "./secrets/key.pem"}
        answer = signed_in(ada).post(settings_of(acme, "intentignore/"), posted)
        assert answer.context["test"] == {"path": "./secrets/key.pem", "line": "secrets/"}
        acme.refresh_from_db()
        assert acme.intentignore == ""

    def test_ivy_tries_a_path_against_what_is_saved(self, acme, ivy):
        Workspace.objects.filter(pk=acme.pk).update(intentignore="secrets/")
        posted = {"action": "test", "text": "nothing", "path": "secrets/key.pem"}
        answer = signed_in(ivy).post(settings_of(acme, "intentignore/"), posted)
        assert answer.context["test"]["line"] == "secrets/"
        assert answer.context["text"] == "secrets/"

    def test_a_text_that_somebody_else_saved_is_not_overwritten_unseen(self, acme, ada):
        answer = self.save(signed_in(ada), acme, "mine/", version="1")
        assert answer.status_code == 409
        assert answer.context["text"] == "mine/"
        acme.refresh_from_db()
        assert acme.intentignore == ""

    def test_a_text_that_cannot_be_kept_is_refused(self, acme, ada):
        assert self.save(signed_in(ada), acme, "a\x00b").status_code == 400


class TestMembers:
    def post(self, client, workspace, action, **more):
        return client.post(settings_of(workspace, "members/"), {"action": action, **more})

    def test_ada_takes_in_a_person_who_has_an_account(self, acme, ada):
        person("kim")
        assert self.post(signed_in(ada), acme, "add", username="kim", role="reviewer").status_code == 302
        assert Membership.objects.get(workspace=acme, user__username="kim").role == Role.REVIEWER
        outcome, body = newest(acme)
        assert (outcome, body["username"], body["role"]) == ("added", "kim", "reviewer")

    @pytest.mark.parametrize(
        ("posted", "words"),
        [
            ({"username": "nobody", "role": "reviewer"}, "no account"),
            ({"username": "rex", "role": "auditor"}, "already a member"),
            ({"username": "rex", "role": "king"}, "Choose a role"),
        ],
    )
    def test_what_makes_no_sense_is_refused_in_words(self, acme, ada, rex, posted, words):
        answer = self.post(signed_in(ada), acme, "add", **posted)
        assert answer.status_code == 400
        assert words in answer.context["error"]

    def test_ada_changes_the_role_of_rex(self, acme, ada, rex):
        self.post(signed_in(ada), acme, "role", user_id=rex.pk, role="auditor")
        assert Membership.objects.get(user=rex).role == Role.AUDITOR
        assert newest(acme)[0] == "role changed"

    @pytest.mark.parametrize("action", ["remove", "role"])
    def test_the_last_admin_stays(self, acme, ada, action):
        answer = self.post(signed_in(ada), acme, action, user_id=ada.pk, role="reviewer")
        assert answer.status_code == 400
        assert Membership.objects.get(user=ada).role == Role.ADMIN

    def test_an_inactive_admin_does_not_count(self, acme, ada):
        gone = person("gone", acme, Role.ADMIN)
        User.objects.filter(pk=gone.pk).update(is_active=False)
        with pytest.raises(members.MemberError, match="needs an admin"):
            members.remove(acme, ada.pk, actor="test")

    def test_whoever_is_removed_takes_the_tokens_in_their_name_along(self, acme, ada, rex):
        theirs = speaker(acme, "agent", acts_for=rex)
        service = speaker(acme, "agent")
        self.post(signed_in(ada), acme, "remove", user_id=rex.pk)
        assert not Membership.objects.filter(user=rex).exists()
        assert theirs.get("policy").status_code == 401
        assert service.get("policy").status_code == 200

    def test_a_member_of_another_workspace_cannot_be_touched(self, acme, ada, max_):
        answer = self.post(signed_in(ada), acme, "remove", user_id=max_.pk)
        assert answer.status_code == 400
        assert Membership.objects.filter(user=max_).exists()


class TestTokens:
    def post(self, client, workspace, **posted):
        return client.post(settings_of(workspace, "tokens/"), posted)

    def test_a_new_token_is_shown_once_and_works(self, acme, ada, agent):
        client = signed_in(ada)
        answer = self.post(client, acme, action="create", name="Laptop", role="agent")
        secret = answer.context["fresh"]["text"]
        assert secret in answer.content.decode()
        assert "no-store" in answer["Cache-Control"]
        assert secret not in client.get(settings_of(acme, "tokens/")).content.decode()
        assert (
            agent.client.get("/api/v1/policy", headers={"Authorization": f"Bearer {secret}"}).status_code
            == 200
        )
        outcome, body = newest(acme)
        assert (outcome, body["name"]) == ("issued", "Laptop")
        assert secret not in str(body)

    def test_it_acts_for_whoever_makes_it_unless_it_is_a_service(self, acme, ada):
        client = signed_in(ada)
        self.post(client, acme, action="create", name="Mine", role="agent")
        self.post(client, acme, action="create", name="Service", role="agent", acts_for="nobody")
        assert Token.objects.get(name="Mine").acts_for == ada
        assert Token.objects.get(name="Service").acts_for is None

    @pytest.mark.parametrize(
        "posted",
        [{"name": "", "role": "agent"}, {"name": "a\x07", "role": "agent"}, {"name": "x", "role": "king"}],
    )
    def test_a_token_needs_a_name_and_a_role(self, acme, ada, posted):
        assert self.post(signed_in(ada), acme, action="create", **posted).status_code == 400
        assert not Token.objects.exists()

    def test_a_revoked_token_is_refused_with_the_next_call(self, acme, ada, agent):
        intent(acme)
        assert agent.gate("read_file", path="a")["decision"] == "allow"
        client = signed_in(ada)
        for _ in range(2):
            self.post(client, acme, action="revoke", token_id=agent.token.pk)
        assert (
            agent.post("gate", {"session_id": "s-1", "tool": "read_file", "input": {"path": "a"}}).status_code
            == 401
        )
        assert LedgerEntry.objects.filter(workspace_id=acme.pk, outcome="revoked").count() == 1

    def test_a_token_of_another_workspace_is_not_revoked(self, acme, ada, max_):
        other = speaker(Workspace.objects.get(slug="elsewhere"))
        self.post(signed_in(ada), acme, action="revoke", token_id=other.token.pk)
        other.token.refresh_from_db()
        assert other.token.revoked_at is None

    def test_ids_that_are_none_are_not_found(self, acme, ada):
        assert self.post(signed_in(ada), acme, action="revoke", token_id="1 or 1").status_code == 404
