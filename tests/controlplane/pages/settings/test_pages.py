"""Settings: every member reads, admins change, and every change is an entry of the ledger."""

from __future__ import annotations

import pytest

from controlplane.models import Workspace
from tests.builders import intent, signed_in
from tests.controlplane.pages.settings.settings_forms import newest, settings_of, version_on
from traces.models import LedgerEntry

PAGES = ["", "intentignore/", "members/", "tokens/", "outlets/", "ledger/"]


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
        assert answer.context["test"] == {"path": "./secrets/key.pem", "line": "secrets/", "source": ""}
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
