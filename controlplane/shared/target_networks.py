"""Which addresses the server may post to: public ones, and those private ones that the operator permits.

The ranges are written out, since Python's `is_global` changes from version to version. They follow IANA's
registries of special-purpose addresses (RFC 6890).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


# What `ICP_PRIVATE_TARGETS=on` permits: this machine and the networks that an operator may own.
PRIVATE = _networks(
    "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7"
)  # fmt: skip
# Never by `on`, only by name: clouds give the credentials of a machine at these. The last three are those of
# Azure, AWS and Alibaba outside of the link-local ranges.
METADATA = _networks(
    "169.254.0.0/16", "fe80::/10", "192.0.0.192/32", "168.63.129.16/32", "fd00:ec2::/32", "100.100.100.200/32"
)  # fmt: skip
RESERVED = _networks(
    "0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    # Of 2000::/3: protocols (with Teredo), examples, and 6to4, which may lead to any IPv4 address.
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)  # fmt: skip
# Of IPv6 only these are handed out, so all else is not public.
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
# A NAT64 gateway forwards these to the IPv4 address in their last 32 bits (RFC 6052).
NAT64 = ipaddress.ip_network("64:ff9b::/96")


def parse_networks(text: str) -> tuple[Network, ...]:
    """Read networks and addresses, separated by commas. Raise ValueError."""
    return _networks(*(part.strip() for part in text.split(",") if part.strip()))


def is_public(text: str) -> bool:
    """Return whether an IP address is public, and so is any IPv4 address that it stands for."""
    address = _parse(text)
    if isinstance(address, ipaddress.IPv6Address) and address not in GLOBAL_UNICAST:
        return address in NAT64 and is_public(str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)))
    return not _is_in(address, PRIVATE + METADATA + RESERVED)


def is_permitted(text: str, permitted: Iterable[Network]) -> bool:
    """Return whether an address is permitted; one of metadata needs a network of its own range."""
    address = _parse(text)
    networks = [network for network in permitted if address in network]
    ranges = [network for network in METADATA if address in network]
    if not ranges:
        return bool(networks)
    return any(_is_subnet(network, metadata) for network in networks for metadata in ranges)


def _parse(text: str) -> Address:
    """Return the address, without its zone; the IPv4 address of a mapped one (::ffff:10.0.0.1)."""
    address = ipaddress.ip_address(text.split("%", maxsplit=1)[0])
    return (address.version == 6 and address.ipv4_mapped) or address


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def _is_subnet(inner: Network, outer: Network) -> bool:
    return inner.prefixlen >= outer.prefixlen and inner.network_address in outer
