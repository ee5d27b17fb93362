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
from controlplane.shared.http_post import TargetError, post
from controlplane.shared.target_networks import PRIVATE, parse_networks


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


def resolve_to(monkeypatch, *addresses: str) -> list[str]:
    """Let every name have these addresses, and list where a connection is tried; none is made."""
    tried: list[str] = []

    def connect(where, timeout):
        tried.append(where[0])
        raise ConnectionRefusedError

    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "create_connection", connect)
    return tried


def test_of_several_addresses_only_permitted_ones_are_tried(monkeypatch):
    tried = resolve_to(monkeypatch, "169.254.169.254", "10.0.0.7", "93.184.216.34")
    with pytest.raises(TargetError, match="did not answer"):
        post("https://two.example.org/", b"{}", {})
    assert tried == ["93.184.216.34"]


def test_plain_http_goes_to_named_networks_only(monkeypatch, settings):
    settings.PRIVATE_TARGETS = parse_networks("10.0.0.0/24")
    tried = resolve_to(monkeypatch, "93.184.216.34")
    with pytest.raises(TargetError, match="must begin with https://"):
        post("http://public.example.org/", b"{}", {})
    assert tried == []
    tried = resolve_to(monkeypatch, "10.0.0.7")
    with pytest.raises(TargetError, match="did not answer"):
        post("http://collector.internal/", b"{}", {})
    assert tried == ["10.0.0.7"]


def test_a_redirect_is_an_answer_and_is_not_followed(settings):
    settings.PRIVATE_TARGETS = PRIVATE
    listener = socket.create_server(("127.0.0.1", 0))
    requests = []

    def redirect():
        with listener.accept()[0] as peer:
            requests.append(peer.recv(10_000))
            peer.sendall(b"HTTP/1.1 307 Go\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")

    threading.Thread(target=redirect, daemon=True).start()
    answer = post(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"{}", {})
    listener.close()
    assert (answer.status, answer.is_success, len(requests)) == (307, False, 1)


def test_plain_http_is_refused_unless_the_operator_permits_it():
    with pytest.raises(TargetError, match="https://"):
        post("http://example.org/", b"{}", {})


@pytest.mark.parametrize(
    ("scheme", "first", "drop"),
    [("http", b"", b"H"), ("http", b"HTTP/1.1 200 OK\r\n", b"X-Drip: 1\r\n"), ("https", b"\x16\x03\x03\x40\x00", b"\x02")],
    ids=["status", "headers", "handshake"],
)  # fmt: skip
def test_whoever_answers_a_byte_at_a_time_is_hung_up_on(monkeypatch, settings, scheme, first, drop):
    settings.PRIVATE_TARGETS = PRIVATE
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
    settings.PRIVATE_TARGETS = PRIVATE
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    assert post(f"https://localhost:{port}/", b"{}", {}).text == "kept"


def test_a_certificate_that_nobody_trusts_ends_the_post(secure_listener, settings):
    settings.PRIVATE_TARGETS = PRIVATE
    with pytest.raises(TargetError, match="certificate verify failed"):
        post(f"https://localhost:{secure_listener[0]}/", b"{}", {})


def test_a_certificate_of_another_name_ends_the_post(secure_listener, settings, monkeypatch):
    port, trusted = secure_listener
    settings.PRIVATE_TARGETS = PRIVATE
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with pytest.raises(TargetError, match="certificate verify failed"):
        post(f"https://127.0.0.1:{port}/", b"{}", {})
