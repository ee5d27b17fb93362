"""Settings, Outlets: an admin tells the ledger whom to tell; everybody else reads."""

from __future__ import annotations

import pytest

from tests.builders import signed_in
from tests.traces.outlets.conftest import receiver
from traces.ledger.append import read_body
from traces.models import LedgerEntry, Outlet
from traces.outlets.manage import OutletSettings, add_outlet

__all__ = ["receiver"]  # a fixture

HOOK = {"action": "add", "form": "webhook", "url": "https://hooks.example.org/icp"}


@pytest.fixture
def address(acme):
    return f"/w/{acme.slug}/settings/outlets/"


def test_an_admin_adds_a_webhook_and_sees_its_secret_once(acme, ada, address):
    page = signed_in(ada).post(address, HOOK | {"kinds": ["approval", "decision"]}).content.decode()
    outlet = Outlet.objects.get()
    assert outlet.secret in page
    assert outlet.kinds == ["approval", "decision"]
    assert outlet.secret not in signed_in(ada).get(address).content.decode()
    entry = LedgerEntry.objects.get(workspace_id=acme.pk, kind="policy")
    assert (entry.outcome, read_body(entry)["what"]) == ("added", "outlet")
    assert outlet.secret not in str(read_body(entry))


def test_the_header_of_a_collector_is_never_shown(ada, address):
    posted = HOOK | {"form": "otlp", "header": "Bearer s3cret"}
    assert "s3cret" not in signed_in(ada).post(address, posted).content.decode()
    assert "s3cret" not in signed_in(ada).get(address).content.decode()
    assert Outlet.objects.get().secret == "Bearer s3cret"


def test_a_refused_address_is_kept_in_the_form_with_the_reason(ada, address):
    answer = signed_in(ada).post(address, HOOK | {"url": "http://intranet/"})
    assert answer.status_code == 400
    assert 'value="http://intranet/"' in answer.content.decode()
    assert "The URL must begin with https://" in answer.content.decode()


def test_others_read_and_change_nothing(rex, ivy, max_, address):
    for person in (rex, ivy):
        assert signed_in(person).get(address).status_code == 200
        assert signed_in(person).post(address, HOOK).status_code == 403
    assert signed_in(max_).post(address, HOOK).status_code == 404
    assert not Outlet.objects.exists()


def test_an_outlet_of_another_workspace_is_out_of_reach(acme, ada, address):
    other = add_outlet(acme.pk + 1, OutletSettings("webhook", "https://hooks.example.org/"), actor="x")
    for action in ("test", "retry", "remove"):
        posted = {"action": action, "outlet_id": other.pk}
        assert signed_in(ada).post(address, posted).status_code == 404
    assert Outlet.objects.filter(pk=other.pk).exists()


def test_a_test_is_posted_at_once_and_its_failure_told(acme, ada, address, receiver):
    outlet = add_outlet(acme.pk, OutletSettings("webhook", receiver.url), actor="x")
    act = {"action": "test", "outlet_id": outlet.pk}
    assert "The test was delivered" in signed_in(ada).post(address, act, follow=True).content.decode()
    receiver.answers = [(500, {})]
    assert "The outlet answered 500" in signed_in(ada).post(address, act, follow=True).content.decode()
    assert len(receiver.posts) == 2


def test_a_removed_outlet_is_told_nothing_more(acme, ada, address):
    outlet = add_outlet(acme.pk, OutletSettings("webhook", "https://hooks.example.org/"), actor="x")
    signed_in(ada).post(address, {"action": "remove", "outlet_id": outlet.pk})
    assert not Outlet.objects.exists()
    assert LedgerEntry.objects.filter(workspace_id=acme.pk, kind="policy", outcome="removed").exists()


def test_loading_the_answer_again_adds_no_second_outlet(ada, address):
    posted = HOOK | {"kinds": ["decision", "approval"]}
    assert signed_in(ada).post(address, posted).status_code == 200
    again = signed_in(ada).post(address, posted)
    assert again.status_code == 400
    assert "exists already. Remove it first" in again.content.decode()
    assert signed_in(ada).post(address, HOOK | {"kinds": ["trace"]}).status_code == 200
    assert signed_in(ada).post(address, HOOK | {"form": "otlp"}).status_code == 200
    assert Outlet.objects.count() == 3
