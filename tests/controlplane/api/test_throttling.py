"""Who asks too often waits: a token that runs away, and whoever guesses a password."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from controlplane.models import Role
from controlplane.shared import rate_limit
from tests import builders

INTENTS = "intents"
PASSWORD = "correct horse"


@pytest.fixture
def ada(acme):
    person = builders.person("ada", acme, Role.ADMIN)
    person.set_password(PASSWORD)
    person.save()
    return person


def sign_in(name, password, address="192.0.2.1"):
    data = {"username": name, "password": password}
    return Client().post(reverse("login"), data, REMOTE_ADDR=address)


def test_a_token_that_runs_away_is_told_when_to_come_back(agent, reviewer, settings):
    settings.RATE_PER_MINUTE = 12  # two at once, then one in five seconds
    assert [agent.get(INTENTS).status_code for _ in range(3)] == [200, 200, 429]
    assert 1 <= int(agent.get(INTENTS)["Retry-After"]) <= 6
    assert reviewer.get(INTENTS).status_code == 200


def test_whoever_guesses_too_often_is_slowed_down_even_with_the_right_password(ada, monkeypatch):
    clock = SimpleNamespace(
        monotonic=lambda: 0.0
    )  # standing still: on a slow machine the bucket would refill
    monkeypatch.setattr(rate_limit, "time", clock)
    assert {sign_in("ada", f"guess {n}").status_code for n in range(10)} == {200}
    slowed = sign_in("ada", PASSWORD)
    assert slowed.status_code == 429
    assert "Too many wrong passwords for this name. Wait 30 seconds" in slowed.content.decode()
    assert sign_in("ADA", "guess").status_code == 429


def test_a_guesser_shuts_nobody_else_out(ada):
    for n in range(12):
        sign_in("ada", f"guess {n}")
    assert sign_in("ada", PASSWORD, address="192.0.2.2").status_code == 302


def test_signing_in_starts_the_count_anew(ada):
    for _ in range(3):
        assert {sign_in("ada", "wrong").status_code for _ in range(9)} == {200}
        assert sign_in("ada", PASSWORD).status_code == 302


def test_the_door_of_the_admin_pages_is_as_careful(ada):
    for n in range(10):
        sign_in("ada", f"guess {n}")
    data = {"username": "ada", "password": PASSWORD}
    page = Client().post(reverse("admin:login"), data, REMOTE_ADDR="192.0.2.1")
    assert "Too many wrong passwords" in page.content.decode()
