"""The reconcile function of a task: after a lost worker, it answers whether the attempt had its effect."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from tickbird.domain.errors import DefinitionError
from tickbird.targets.protocol import Run

# Calls with the typed arguments of a run.
Prepare = Callable[[Run], Mapping[str, Any]]


class TaskReconciler:
    """It has some of its task's parameters, and may have one that is annotated with Run, for the lost run."""

    def __init__(
        self,
        task: str,
        function: Callable[..., Any],
        prepare: Prepare,
        parameters: Mapping[str, inspect.Parameter],
        timeout: int,
    ) -> None:
        self.function = function
        # Seconds that a call may take.
        self.timeout = timeout
        self._prepare = prepare
        names = inspect.signature(function).parameters
        # A payload lacks the arguments that its run left to the task's defaults.
        self._defaults = {
            name: parameter.default
            for name, parameter in parameters.items()
            if parameter.default is not parameter.empty
            and name in names
            and names[name].default is inspect.Parameter.empty
        }
        try:
            hints = typing.get_type_hints(function)
        except (NameError, TypeError) as error:
            raise DefinitionError(
                f"reconcile function of task {task!r} has an annotation that cannot be resolved: {error}.",
                field="task",
                hint="Define or import that type at module level.",
            ) from None
        self._run_parameters = [name for name in names if hints.get(name) is Run]
        self._shared = [name for name in names if name not in self._run_parameters]
        if unknown := [name for name in self._shared if name not in parameters]:
            raise DefinitionError(
                f"reconcile function of task {task!r}: the task has no parameter {unknown[0]!r}.",
                field="task",
                hint="Use the names of the task's parameters, or annotate a parameter with Run.",
            )

    @cached_property
    def blocking(self) -> bool:
        return not inspect.iscoroutinefunction(self.function)

    def prepare(self, run: Run) -> Mapping[str, Any]:
        """The arguments of a call; raises PayloadError."""
        arguments = {**self._defaults, **self._prepare(run)}
        shared = {name: arguments[name] for name in self._shared if name in arguments}
        return {**shared, **dict.fromkeys(self._run_parameters, run)}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        return self.function(**arguments)
