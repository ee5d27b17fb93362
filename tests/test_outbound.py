"""Posts leave for the public internet only, to the address that was looked at, and end in time."""

from __future__ import annotations

import http.server
import ipaddress
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from controlplane import outbound
from controlplane.outbound import OutboundError, check_url, is_public, post


class Receiver(http.server.BaseHTTPRequestHandler):
    answer = (200, b"thanks", {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((self.path, dict(self.headers), body))
        status, text, headers = self.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    """A server on 127.0.0.1 that keeps what it got."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Receiver,), {}))
    server.received = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def private_allowed(settings):
    settings.ALLOW_PRIVATE_TARGETS = True


def url_of(server, path="/hook?a=1", scheme="http", host="127.0.0.1"):
    return f"{scheme}://{host}:{server.server_port}{path}"


def test_a_post_arrives_whole_and_its_answer_is_cut(receiver, private_allowed):
    receiver.RequestHandlerClass.answer = (202, b"x" * 5000, {})
    answer = post(url_of(receiver), b"body", {"X-Own": "1"})
    assert (answer.status, answer.accepted, answer.text) == (202, True, "x" * 200)
    (path, headers, body) = receiver.received[0]
    assert (path, headers["X-Own"], body) == ("/hook?a=1", "1", b"body")


def test_a_redirect_is_an_answer_and_not_followed(receiver, private_allowed):
    receiver.RequestHandlerClass.answer = (302, b"", {"Location": url_of(receiver, "/elsewhere")})
    assert not post(url_of(receiver), b"", {}).accepted
    assert len(receiver.received) == 1


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0", "[::1]",
        "[::ffff:127.0.0.1]", "[fd00::1]", "[fe80::1]", "100.64.0.1", "2130706433", "0x7f.1", "224.0.0.1",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    ],
)  # fmt: skip
def test_nothing_leaves_for_a_private_network(host, settings):
    settings.ALLOW_PRIVATE_TARGETS = False
    with pytest.raises(OutboundError, match=r"private network|cannot be resolved"):
        post(f"https://{host}/", b"", {})


def test_one_private_address_of_several_is_enough_to_refuse(monkeypatch):
    monkeypatch.setattr(outbound.socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("8.8.8.8", 443)), (0, 0, 0, "", ("10.0.0.1", 443))])  # fmt: skip
    with pytest.raises(OutboundError, match="private network"):
        post("https://two.example/", b"", {})


def test_public_addresses_are_public():
    assert all(is_public(one) for one in ("8.8.8.8", "2606:4700::1111", "2002:808:808::", "64:ff9b::808:808"))


def test_the_connection_goes_to_the_address_that_was_looked_at(receiver, private_allowed, monkeypatch):
    """The name resolves once: a second answer, however private, is never asked for."""
    asked = []

    def resolve(host, port, *_, **__):
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    real = socket.create_connection
    monkeypatch.setattr(outbound.socket, "getaddrinfo", resolve)
    monkeypatch.setattr(outbound.socket, "create_connection", lambda address, *rest: (asked.append(address[0]), real(("127.0.0.1", address[1]), *rest))[1])  # fmt: skip
    post(url_of(receiver, host="rebinding.example"), b"", {})
    assert asked[:2] == ["rebinding.example", "127.0.0.1"]
    assert receiver.received[0][1]["Host"].startswith("rebinding.example")


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/", "ftp://example.org/", "https://", "https:///path", "example.org", "",
        "https://user:secret@example.org/", "https://example.org:0/", "https://example.org:99999/",
        "https://exa mple.org/", "https://example.org/\r\nHost: x", "https://ex\u00e4mple.org/", "https://[::1/",
        "https://example.org/" + "x" * 1000,
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_before_anything_is_asked(url, settings):
    settings.ALLOW_PRIVATE_TARGETS = False
    with pytest.raises(OutboundError):
        check_url(url)


def test_nobody_there_is_said(private_allowed):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(OutboundError, match="did not answer"):
        post(f"http://127.0.0.1:{port}/", b"", {})


def test_whoever_drips_is_cut_off(private_allowed, monkeypatch):
    monkeypatch.setattr(outbound, "DEADLINE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def drip():
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while not stop.wait(0.1):
                    try:
                        connection.sendall(b"X-Drip: 1\r\n")
                    except OSError:
                        return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        with pytest.raises(OutboundError, match="did not answer"):
            post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"", {})
        stop.set()
        thread.join(5)


@pytest.fixture
def secure_receiver(receiver, tmp_path):
    """The receiver behind a certificate for localhost, which stands in `trust.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName(
        [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.2"))]
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "trust.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "key.pem").write_bytes(pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "trust.pem", tmp_path / "key.pem")
    receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
    return receiver


def test_a_certificate_that_nobody_trusts_ends_the_post(secure_receiver, private_allowed):
    with pytest.raises(OutboundError, match="certificate is not trusted"):
        post(url_of(secure_receiver, scheme="https", host="localhost"), b"secret", {})
    assert secure_receiver.received == []


def test_over_tls_the_certificate_must_be_of_the_name(
    secure_receiver, private_allowed, tmp_path, monkeypatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trust.pem"))
    monkeypatch.setattr(outbound, "_public_address", lambda _parts: "127.0.0.1")
    assert post(url_of(secure_receiver, scheme="https", host="localhost"), b"x", {}).accepted
    with pytest.raises(OutboundError, match="certificate is not trusted"):
        post(url_of(secure_receiver, scheme="https", host="other.example"), b"x", {})
