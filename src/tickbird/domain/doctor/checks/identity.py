"""Check for a copied store."""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.doctor.checks.phrases import sentence
from tickbird.domain.doctor.finding import Finding, ok, problem
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.store_identity import ACCEPT_COPY


def copy(condition: StoreSnapshot) -> Iterator[Finding]:
    if condition.copy_reason:
        reason = sentence(condition.copy_reason.removesuffix(ACCEPT_COPY))
        text = f"{reason} Nothing is planned or executed here."
        yield problem("copy", text, "tickbird doctor --accept-copy   # only if it should run here")
    else:
        yield ok("copy", "The store is not a copy.")
