"""Outlets are told every sealed entry they want, in order, at least once, whatever happens on the way."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.traces.builders import HOME, append, append_many, decision
from traces.errors import OutletError
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.models import LedgerEntry, Outlet
from traces.outlets import delivery, webhook
from traces.outlets.delivery import count_outlets, deliver_all
from traces.outlets.manage import OutletSettings, add_outlet, retry_now

pytestmark = pytest.mark.django_db

ACTOR = "person:1:Ada"


def hook(receiver, **more):
    outlet = add_outlet(HOME, OutletSettings("webhook", receiver.url, **more), actor=ACTOR)
    seal(HOME)
    return outlet


def told(receiver):
    return [entry for body in receiver.bodies() for entry in json.loads(body)["entries"]]


def again(outlet):
    outlet.refresh_from_db()
    return outlet


def test_each_sealed_entry_is_told_once_and_in_order(receiver, monkeypatch):
    monkeypatch.setattr(delivery, "BATCH", 2)
    hook(receiver, from_start=True)
    append_many(4)
    assert deliver_all() == 1  # its own record; the rest is not sealed yet
    seal(HOME)
    assert deliver_all() == 2
    assert deliver_all() == 0
    assert [entry["seq"] for entry in told(receiver)] == [0, 1, 2, 3, 4]
    assert len({entry["id"] for entry in told(receiver)}) == 5


def test_a_new_outlet_is_told_what_comes_and_not_what_was(receiver):
    append_many(3)
    seal(HOME)
    hook(receiver)
    append()
    seal(HOME)
    deliver_all()
    assert [entry["seq"] for entry in told(receiver)] == [3, 4]


def test_only_the_kinds_that_are_wanted_go_out(receiver):
    outlet = hook(receiver, kinds=["approval"])
    append_many(3)
    seal(HOME)
    assert deliver_all() == 1  # went through them
    assert receiver.posts == []
    assert again(outlet).next_seq == 4


def test_contents_go_along_only_on_request(receiver):
    secret = {"tool": "Bash", "input": {"command": "cat plan"}, "targets": ["a.py"], "tool_use_id": "t1"}
    hook(receiver)
    append(decision(body=secret))
    seal(HOME)
    deliver_all()
    assert told(receiver)[-1]["body"] == {"targets": ["a.py"], "tool_use_id": "t1"}
    hook(receiver, from_start=True, include_bodies=True)
    deliver_all()
    assert secret in [entry["body"] for entry in told(receiver)]


def test_a_change_tells_the_computed_class_and_whether_it_disagrees(receiver):
    append(decision(kind="trace", outcome="AST_REFACTOR", reason="class_disagrees", body={"files": []}))
    append(decision(kind="trace", outcome="AST_REFACTOR", reason="class_agrees", body={"files": []}))
    made_up = {"computed_mutation_class": "MADE_UP", "class_disagrees": True}
    append(decision(kind="trace", outcome="AST_REFACTOR", body=made_up))
    hook(receiver, from_start=True)
    deliver_all()
    found = [(one.get("computed_mutation_class"), one.get("class_disagrees")) for one in told(receiver)[:3]]
    assert found == [("INTENT_EVOLUTION", True), ("AST_REFACTOR", False), (None, None)]
    assert "MADE_UP" not in str(told(receiver))


def test_a_redacted_entry_is_told_without_its_body(receiver):
    entry = LedgerEntry.objects.get(pk=append().id)
    redact(entry, reason="a password", actor=ACTOR)
    hook(receiver, from_start=True, include_bodies=True)
    deliver_all()
    assert told(receiver)[0]["id"] == entry.entry_id
    assert told(receiver)[0]["body"] is None


def test_the_signature_is_that_of_standard_webhooks(receiver):
    outlet = hook(receiver)
    deliver_all()
    path, headers, body = receiver.posts[0]
    assert path == "/hook?from=icp"
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(outlet.secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert abs(int(headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60


def test_the_example_of_the_specification_is_signed_as_it_says():
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    made = webhook.sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert made == "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("status", [301, 400, 500])
def test_what_was_not_taken_is_sent_again_after_a_pause(receiver, status):
    receiver.answers = [(status, {"Location": receiver.url}), (200, {})]
    outlet = hook(receiver)
    assert deliver_all() == 0
    assert again(outlet).failures == 1
    assert f"The outlet answered {status}" in outlet.last_error
    assert outlet.next_try_at > timezone.now() + timedelta(seconds=3)
    assert deliver_all() == 0
    assert len(receiver.posts) == 1
    retry_now(outlet)
    assert deliver_all() == 1
    assert receiver.bodies()[0] == receiver.bodies()[1]
    assert (again(outlet).failures, outlet.last_error) == (0, "")


def test_pauses_grow_to_an_hour(receiver):
    receiver.answers = [(500, {})]
    outlet = hook(receiver)
    pauses = []
    for _ in range(13):
        retry_now(outlet)
        before = timezone.now()
        deliver_all()
        pauses.append(round((again(outlet).next_try_at - before).total_seconds()))
    assert pauses[:4] == [5, 10, 20, 40]
    assert pauses[-1] == 3600


def test_an_outlet_that_is_down_holds_nobody_else_up(receiver):
    dead = add_outlet(HOME, OutletSettings("webhook", "http://127.0.0.1:9/x"), actor=ACTOR)
    hook(receiver)
    deliver_all()
    assert len(receiver.posts) == 1
    assert "did not answer" in again(dead).last_error


def test_of_two_who_deliver_one_does(receiver, monkeypatch):
    hook(receiver)
    stale = list(Outlet.objects.all())
    assert delivery._claim(stale[0])
    assert not delivery._claim(stale[0])


def test_large_contents_are_spread_over_several_posts(receiver, monkeypatch):
    monkeypatch.setattr(delivery, "MAX_POST_BYTES", 1000)
    hook(receiver, include_bodies=True)
    for _ in range(3):
        append(decision(body={"input": "x" * 800}))
    seal(HOME)
    deliver_all()
    assert [len(json.loads(body)["entries"]) for body in receiver.bodies()] == [2, 1, 1]
    assert [entry["seq"] for entry in told(receiver)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (OutletSettings("carrier pigeon", "https://example.org/"), "webhook or a collector"),
        (OutletSettings("webhook", "ftp://example.org/"), "https://"),
        (OutletSettings("webhook", "http://example.org/"), "https://"),
        (OutletSettings("webhook", "https:///path"), "Not a URL"),
        (OutletSettings("webhook", "https://u:p@example.org/"), "name and password"),
        (OutletSettings("webhook", "https://example.org/ x"), "ASCII"),
        (OutletSettings("webhook", "https://example.org:port/"), "Not a URL"),
        (OutletSettings("webhook", "https://example.org/", kinds=["gossip"]), "kinds"),
        (OutletSettings("otlp", "https://example.org/", header="a\r\nb"), "one line"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(wanted, says):
    with pytest.raises(OutletError, match=says):
        add_outlet(HOME, wanted, actor=ACTOR)
    assert not Outlet.objects.exists()
    assert not LedgerEntry.objects.exists()


def test_prometheus_sees_who_is_not_served(receiver, client):
    hook(receiver, kinds=("decision",), from_start=True)
    hook(receiver, kinds=("policy",), from_start=True)
    append_many(1)
    seal(HOME)
    receiver.answers = [(500, {})]
    deliver_all()
    count_outlets()
    assert (
        'icp_outlets{health="ok"} 0.0\nicp_outlets{health="failing"} 2.0\n'
        in client.get("/metrics").content.decode()
    )
    receiver.answers = [(204, {})]
    for outlet in Outlet.objects.all():
        retry_now(outlet)
    deliver_all()
    count_outlets()
    assert (
        'icp_outlets{health="ok"} 2.0\nicp_outlets{health="failing"} 0.0\n'
        in client.get("/metrics").content.decode()
    )
