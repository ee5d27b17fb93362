"""Headers of answers, and sign-ins that end."""

from __future__ import annotations

import time

import pytest

from controlplane.server import middleware
from tests import builders


@pytest.fixture
def signed_in(rex):
    return builders.signed_in(rex)


def use_at(client, at: float, monkeypatch) -> int:
    monkeypatch.setattr(middleware.time, "time", lambda: at)
    return client.get("/w/acme/").status_code


def test_a_sign_in_that_nobody_uses_ends(signed_in, settings, monkeypatch):
    now = time.time()
    assert use_at(signed_in, now, monkeypatch) == 200
    assert use_at(signed_in, now + settings.SIGN_IN_IDLE_SECONDS - 60, monkeypatch) == 200
    assert use_at(signed_in, now + 2 * settings.SIGN_IN_IDLE_SECONDS - 180, monkeypatch) == 200
    assert use_at(signed_in, now + 4 * settings.SIGN_IN_IDLE_SECONDS, monkeypatch) == 302


def test_without_a_limit_it_goes_on(signed_in, settings, monkeypatch):
    settings.SIGN_IN_IDLE_SECONDS = 0
    now = time.time()
    assert use_at(signed_in, now, monkeypatch) == 200
    assert use_at(signed_in, now + 10 * 24 * 3600, monkeypatch) == 200


@pytest.mark.parametrize(
    ("path", "stored"), [("/api/v1/sessions", False), ("/hooks/x/y", False), ("/login/", True)]
)
def test_answers_for_one_caller_are_kept_by_no_cache(client, db, path, stored):
    answer = client.get(path)
    assert answer.headers["Content-Security-Policy"]
    assert stored or answer.headers["Cache-Control"] == "no-store"
