"""What the store cannot do by its nature."""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.doctor.finding import Finding, ok
from tickbird.domain.doctor.snapshot import StoreSnapshot


def capabilities(condition: StoreSnapshot) -> Iterator[Finding]:
    """One finding for each capability that is missing: it is no fault, and nothing can be done about it."""
    for name, loss in condition.missing.items():
        yield ok("capabilities", f"{name}: this store has none. {loss}", capability=name)
