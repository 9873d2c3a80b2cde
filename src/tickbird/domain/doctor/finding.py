"""One finding of `doctor`: what was looked at, how it is, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# `unseen`: it could not be looked at, which is neither good nor bad.
Severity = Literal["ok", "warning", "problem", "unseen"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`text` is for people, `figures` for programs; `fix` is a command or setting to paste, or what to do."""

    check: str
    severity: Severity
    text: str
    fix: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Is there nothing to do about it?"""
        return self.severity in ("ok", "unseen")


def ok(check: str, text: str, **figures: Any) -> Finding:
    """It is well."""
    return Finding(check, "ok", text, figures=figures)


def warning(check: str, text: str, fix: str, **figures: Any) -> Finding:
    """It works, and may not for long, or not as well as it could."""
    return Finding(check, "warning", text, fix, figures)


def problem(check: str, text: str, fix: str, **figures: Any) -> Finding:
    """Something does not work, or a promise does not hold."""
    return Finding(check, "problem", text, fix, figures)


def unseen(check: str, text: str, fix: str = "") -> Finding:
    """It could not be looked at."""
    return Finding(check, "unseen", text, fix)


def in_bytes(size: int) -> str:
    """A size for people."""
    if size < 1_000:
        return f"{size} B"
    for unit, one in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if size >= one:
            return f"{size / one:.1f} {unit}"
    return f"{size / 1_000:.0f} kB"


def unusable(error: str, hint: str) -> Finding:
    """The store could not even be reached."""
    return problem("store", error, hint)


def to_json(finding: Finding) -> dict[str, Any]:
    """A finding as plain JSON values."""
    return {
        "check": finding.check,
        "severity": finding.severity,
        "ok": finding.ok,
        "text": finding.text,
        "fix": finding.fix,
        "figures": dict(finding.figures),
    }
