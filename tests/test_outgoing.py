"""Posting outside never becomes a way into the network that the server stands in."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from controlplane import outgoing
from controlplane.outgoing import TargetError, is_public, post


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::"],
)  # fmt: skip
def test_addresses_inside_are_known_as_such(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
def test_addresses_outside_are_known_as_such(address):
    assert is_public(address)


def test_a_name_that_leads_inside_is_refused_before_anything_is_sent(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it was called"))
    with pytest.raises(TargetError, match="inside a private network"):
        post("https://innocent.example.org/", b"{}", {})


def test_the_connection_goes_to_the_address_that_was_judged(monkeypatch):
    answers = iter([[(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]])
    called = []

    def connect(where, timeout):
        called.append(where)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: next(answers))
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(TargetError, match="did not answer"):
        post("https://rebinding.example.org/", b"{}", {})
    assert called == [("93.184.216.34", 443)]


def test_plain_http_is_refused_unless_the_operator_permits_it():
    with pytest.raises(TargetError, match="https://"):
        post("http://example.org/", b"{}", {})


def test_whoever_answers_a_byte_at_a_time_is_hung_up_on(monkeypatch, settings):
    settings.PRIVATE_TARGETS = True
    monkeypatch.setattr(outgoing, "ALL_SECONDS", 0.3)
    listener = socket.create_server(("127.0.0.1", 0))

    def drip():
        with listener.accept()[0] as peer:
            for _ in range(100):
                try:
                    peer.send(b"H")
                except OSError:
                    return
                time.sleep(0.05)

    threading.Thread(target=drip, daemon=True).start()
    with pytest.raises(TargetError, match="did not answer"):
        post(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"{}", {})
    listener.close()
