"""Hosts of a policy."""

from __future__ import annotations

import pytest

from controlplane.policy.hosts import find_host_problem, is_listed


@pytest.mark.parametrize("host", ["github.com", "*.example.org", "localhost", "10.0.0.1:8080"])
def test_a_host(host):
    assert find_host_problem(host) is None


@pytest.mark.parametrize(
    "host", ["", "*", "*.com", "https://a.b", "a b", "a..b", "a/b", "x" * 300, "*.*.com"]
)
def test_what_is_no_host(host):
    assert find_host_problem(host)


def test_a_listed_host():
    patterns = ("github.com", "*.example.org")
    assert is_listed("GitHub.com.", patterns)
    assert is_listed("a.b.example.org", patterns)
    assert not is_listed("example.org", patterns)
    assert not is_listed("evilgithub.com", patterns)
    assert not is_listed("github.com:8443", patterns)
    assert not is_listed("github.com.evil.org", patterns)
