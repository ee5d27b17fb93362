"""Which addresses are public, and what ICP_PRIVATE_TARGETS permits beside them."""

from __future__ import annotations

import pytest

from controlplane.shared.target_networks import PRIVATE, is_permitted, is_public, parse_networks


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "192.0.0.192", "192.0.2.1", "198.18.0.1", "168.63.129.16", "100.100.100.200",
     "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "2002:7f00:1::", "2002:808:808::", "::1",
     "::127.0.0.1", "::8.8.8.8", "fe80::1%eth0", "fd00::1", "fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::",
     "2001::1", "2001:db8::1", "3fff::1", "5f00::1", "fec0::1", "ff02::1", "100::1"],
)  # fmt: skip
def test_addresses_inside_are_known_as_such(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::808:808"],
)
def test_addresses_outside_are_known_as_such(address):
    assert is_public(address)


@pytest.mark.parametrize(
    ("networks", "address", "is_so"),
    [
        ("10.1.0.0/16, fd12::/48", "10.1.2.3", True),
        ("10.1.0.0/16, fd12::/48", "10.2.0.1", False),
        ("10.1.0.0/16, fd12::/48", "fd12::7", True),
        ("10.1.0.0/16", "::ffff:10.1.2.3", True),
        ("127.0.0.1", "127.0.0.2", False),
        ("0.0.0.0/0", "169.254.169.254", False),
        ("169.254.169.0/24", "169.254.169.254", True),
        ("168.63.129.16", "168.63.129.16", True),
    ],
)
def test_networks_are_permitted_by_name_and_those_of_metadata_by_their_own(networks, address, is_so):
    assert is_permitted(address, parse_networks(networks)) is is_so


@pytest.mark.parametrize(
    ("address", "is_so"),
    [("127.0.0.1", True), ("192.168.1.1", True), ("fd12::1", True), ("100.64.0.1", True),
     ("169.254.169.254", False), ("100.100.100.200", False), ("fd00:ec2::254", False), ("fe80::1", False),
     ("224.0.0.1", False), ("8.8.8.8", False)],
)  # fmt: skip
def test_on_permits_private_networks_and_no_metadata(address, is_so):
    assert is_permitted(address, PRIVATE) is is_so
