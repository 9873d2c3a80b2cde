"""A finding of `doctor`: the check, its result and the fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# `unseen`: the check could not run, which is neither good nor bad.
Severity = Literal["ok", "warning", "problem", "unseen"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`text` is for people, `figures` for programs; `fix` is a command or setting to paste, or an instruction."""

    check: str
    severity: Severity
    text: str
    fix: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Return whether no action is needed."""
        return self.severity in ("ok", "unseen")


def ok(check: str, text: str, **figures: Any) -> Finding:
    """The check passed."""
    return Finding(check, "ok", text, figures=figures)


def warning(check: str, text: str, fix: str, **figures: Any) -> Finding:
    """It works, but has a risk or a drawback."""
    return Finding(check, "warning", text, fix, figures)


def problem(check: str, text: str, fix: str, **figures: Any) -> Finding:
    """Something does not work, or a promise is broken."""
    return Finding(check, "problem", text, fix, figures)


def unseen(check: str, text: str, fix: str = "") -> Finding:
    """The check could not run."""
    return Finding(check, "unseen", text, fix)


def in_bytes(size: int) -> str:
    """Return a size with its unit."""
    if size < 1_000:
        return f"{size} B"
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 1_000:.0f} kB"


def unusable(error: str, hint: str) -> Finding:
    """Return the finding about a store that cannot be used at all."""
    return problem("store", error, hint)


def to_json(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check,
        "severity": finding.severity,
        "ok": finding.ok,
        "text": finding.text,
        "fix": finding.fix,
        "figures": dict(finding.figures),
    }
