"""Stops in the browser: one click, a banner on every page, and the way back."""

from __future__ import annotations

import pytest
from django.urls import reverse

from controlplane.models import EmergencyStop
from tests import builders
from tests.sessions.stops.test_stops import STOPPED, halt, told

pytestmark = pytest.mark.django_db


def text_of(client, path):
    response = client.get(f"/w/acme/{path}")
    assert response.status_code == 200
    return response.content.decode()


def test_one_click_of_an_admin_stops_and_the_next_starts_again(acme, at_work, ada):
    client = builders.signed_in(ada)
    assert "Stop every agent" in text_of(client, "")
    response = client.post("/w/acme/stops/set/", {"kind": "workspace", "next": "/w/acme/"})
    assert response.headers["Location"] == "/w/acme/"
    assert told(at_work.gate("Read", file_path="a")) == STOPPED
    page = text_of(client, "sessions/")
    assert "Every agent is stopped." in page
    assert "Start again" in page
    lift = reverse("stops:lift", args=["acme", EmergencyStop.objects.get().public_id])
    assert client.post(lift, {"next": "//evil.example/"}).headers["Location"] == "/w/acme/stops/"
    assert at_work.gate("Read", file_path="a")["decision"] == "allow"
    assert "Every agent is stopped." not in text_of(client, "sessions/")


def test_everybody_sees_it_and_only_admins_end_it(acme, at_work, rex, ivy):
    row = halt(acme, reason="<b>look</b>")
    for person in (rex, ivy):
        client = builders.signed_in(person)
        for path in ("", "approvals/", "intents/", "stops/?fragment=banner"):
            page = text_of(client, path)
            assert "Every agent is stopped." in page
            assert "&lt;b&gt;look" in page
            assert "Start again" not in page
        assert client.post("/w/acme/stops/set/", {"kind": "workspace"}).status_code == 403
        assert client.post(reverse("stops:lift", args=["acme", row.public_id])).status_code == 403


def test_a_session_is_stopped_on_its_page(acme, at_work, ada):
    client = builders.signed_in(ada)
    form = {"kind": "session", "subject": "s-1", "next": "/w/acme/sessions/s-1"}
    assert 'value="session"' in text_of(client, "sessions/s-1")
    client.post("/w/acme/stops/set/", form)
    assert 'value="session"' not in text_of(client, "sessions/s-1")
    assert "Stopped" in text_of(client, "traces/?kind=policy")
    response = client.post("/w/acme/stops/set/", form, follow=True)
    assert "This is stopped already." in response.content.decode()
    assert "claude-code" in text_of(client, "stops/")
