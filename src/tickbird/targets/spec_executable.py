"""The base class of executables with a spec: a new target kind implements one method."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from tickbird.domain.errors import PayloadError
from tickbird.domain.schedules.definition import Backoff
from tickbird.domain.schedules.fields import OnCrash
from tickbird.domain.targets.spec import TargetSpec
from tickbird.targets.protocol import Isolation, Run


class SpecExecutable(ABC):
    """Executes the targets of one kind and name. An `async def execute` runs in the event loop, a `def` in a thread.

    Its runs belong to schedules, whose policies decide about retries and timeouts.
    """

    isolation: Isolation | None = None
    memory: int | None = None
    retries = 0
    timeout: int | None = None
    on_crash: OnCrash = "retry"
    backoff = Backoff()

    def __init__(self, spec: type[TargetSpec], name: str) -> None:
        self.kind, self.name = spec.kind, name
        self._spec = spec

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.kind} {self.name}>"

    @abstractmethod
    def execute(self, spec: Any, run: Run) -> Any:
        """Execute the spec; the return value is the result of the run, an exception its error."""

    @property
    def blocking(self) -> bool:
        return not inspect.iscoroutinefunction(self.execute)

    def prepare(self, run: Run) -> Mapping[str, Any]:
        """Return the spec and the run; PayloadError if the run was planned with another target (promise I17)."""
        spec = run.spec
        if not isinstance(spec, self._spec) or spec.name != self.name:
            raise PayloadError(
                f"{self.kind} {self.name!r}: not started, because the run was planned with another target."
            )
        return {"spec": spec, "run": run}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        return self.execute(**arguments)

    def describe(self) -> Mapping[str, Any]:
        return {"queue": "default", "description": "", "schema": {"type": "object"}}
