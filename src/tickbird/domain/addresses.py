"""Addresses: of stores, and of servers in front of them."""

from __future__ import annotations


def is_server(url: object) -> bool:
    """Is this the address of a server, and not of a store?"""
    return isinstance(url, str) and url.partition(":")[0].lower() in ("http", "https")
