"""Capabilities that the store lacks."""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.doctor.finding import Finding, ok
from tickbird.domain.doctor.snapshot import StoreSnapshot


def capabilities(condition: StoreSnapshot) -> Iterator[Finding]:
    """Yield a finding for each missing capability, which is not a problem."""
    for name, loss in condition.missing.items():
        yield ok("capabilities", f"{name}: not supported by this store. {loss}", capability=name)
