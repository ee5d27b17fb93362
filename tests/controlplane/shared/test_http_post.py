"""Posting outside never becomes a way into the network that the server stands in."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from controlplane.shared import http_post
from controlplane.shared.http_post import TargetError, is_public, post


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "64:ff9b::7f00:1", "2002:7f00:1::", "2002:808:808::", "::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::"],
)  # fmt: skip
def test_addresses_inside_are_known_as_such(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::808:808"],
)
def test_addresses_outside_are_known_as_such(address):
    assert is_public(address)


def test_a_name_that_leads_inside_is_refused_before_anything_is_sent(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it was called"))
    with pytest.raises(TargetError, match="in a private network"):
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


@pytest.mark.parametrize(
    ("scheme", "first", "drop"),
    [("http", b"", b"H"), ("http", b"HTTP/1.1 200 OK\r\n", b"X-Drip: 1\r\n"), ("https", b"\x16\x03\x03\x40\x00", b"\x02")],
    ids=["status", "headers", "handshake"],
)  # fmt: skip
def test_whoever_answers_a_byte_at_a_time_is_hung_up_on(monkeypatch, settings, scheme, first, drop):
    settings.PRIVATE_TARGETS = True
    monkeypatch.setattr(http_post, "TOTAL_SECONDS", 0.3)
    listener = socket.create_server(("127.0.0.1", 0))

    hung_up = threading.Event()

    def drip():
        with listener.accept()[0] as peer:
            for piece in [first, *[drop] * 1_000]:
                try:
                    peer.send(piece)
                except OSError:
                    hung_up.set()
                    return
                time.sleep(0.05)

    threading.Thread(target=drip, daemon=True).start()
    with pytest.raises(TargetError, match="did not answer"):
        post(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/", b"{}", {})
    assert hung_up.wait(30)
    listener.close()


@pytest.fixture
def secure_listener(tmp_path):
    """(port, the file to trust): answers one post over TLS, with a certificate for localhost."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(made.public_bytes(Encoding.PEM))
    (tmp_path / "key.pem").write_bytes(private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted, tmp_path / "key.pem")
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        try:
            with context.wrap_socket(listener.accept()[0], server_side=True) as peer:
                asked = b""
                while not asked.endswith(b"{}"):  # whoever closes with something unread resets the line
                    asked += peer.recv(1000)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkept")
        except OSError:
            return

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1], trusted
    listener.close()


def test_over_tls_the_post_arrives_where_the_certificate_is_trusted(secure_listener, settings, monkeypatch):
    port, trusted = secure_listener
    settings.PRIVATE_TARGETS = True
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    assert post(f"https://localhost:{port}/", b"{}", {}).text == "kept"


def test_a_certificate_that_nobody_trusts_ends_the_post(secure_listener, settings):
    settings.PRIVATE_TARGETS = True
    with pytest.raises(TargetError, match="certificate verify failed"):
        post(f"https://localhost:{secure_listener[0]}/", b"{}", {})


def test_a_certificate_of_another_name_ends_the_post(secure_listener, settings, monkeypatch):
    port, trusted = secure_listener
    settings.PRIVATE_TARGETS = True
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with pytest.raises(TargetError, match="certificate verify failed"):
        post(f"https://127.0.0.1:{port}/", b"{}", {})
