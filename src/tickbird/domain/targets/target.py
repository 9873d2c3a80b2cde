"""Targets: what a run executes, as a kind, a name and a spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tickbird.domain.targets.spec import TargetSpec

TASK: Final = "task"

# Kind and name. A claim matches runs and workers by both.
TargetKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Target:
    """What a run executes. Runs store the kind and the name; the spec is in their schedule's revision."""

    name: str
    kind: str = TASK
    # None for a task, which has only a name, and for the target of a stored run.
    spec: TargetSpec | None = None

    @property
    def key(self) -> TargetKey:
        return self.kind, self.name


def target_of(spec: TargetSpec) -> Target:
    return Target(spec.name, spec.kind, None if spec.kind == TASK else spec)
