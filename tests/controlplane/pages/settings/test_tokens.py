"""Tokens: issued once, revoked at once."""

from __future__ import annotations

import pytest

from controlplane.models import Token, Workspace
from tests.builders import intent, signed_in, speaker
from tests.controlplane.pages.settings.settings_forms import newest, settings_of
from traces.models import LedgerEntry


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
