"""Members: who belongs to a workspace, and with which role."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from controlplane.models import Membership, Role
from controlplane.pages.settings import members
from tests.builders import person, signed_in, speaker
from tests.controlplane.pages.settings.settings_forms import newest, settings_of


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
