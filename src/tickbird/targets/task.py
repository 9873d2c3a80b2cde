"""Tasks: registered Python functions whose signature is the payload."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Protocol, TypeVar, overload

from tickbird.domain.errors import DefinitionError, PayloadError
from tickbird.domain.schedules.definition import TASK_SETTINGS, check_payload
from tickbird.domain.schedules.fields import Policies
from tickbird.domain.schedules.task_settings import publish_settings
from tickbird.domain.targets.target import TASK
from tickbird.domain.text import check_name
from tickbird.domain.time.durations import Duration, seconds
from tickbird.targets.protocol import Isolation, Run, RunFinisher
from tickbird.targets.reconciler import TaskReconciler

if TYPE_CHECKING:
    from pydantic import BaseModel

P = ParamSpec("P")
R = TypeVar("R")
P2 = ParamSpec("P2")
R2 = TypeVar("R2")
_RECONCILE_TIMEOUT: Final = 30
Send = Callable[["Task[Any, Any]", Mapping[str, Any], Mapping[str, Any]], Awaitable[int]]


class Task(Generic[P, R]):
    """A function with a name. Calling it calls the function; `enqueue` sends a run of it."""

    kind = TASK

    def __init__(
        self,
        function: Callable[P, R],
        name: str,
        send: Send,
        *,
        isolation: Isolation | None = None,
        memory: int | None = None,
        finisher: RunFinisher | None = None,
        **settings: Any,
    ) -> None:
        update_wrapper(self, function)
        self.function = function
        self.name = check_name(name, "task")
        # Checked like a schedule's policies. The fields of a concurrency key are checked with each payload.
        self.policies = Policies(**settings)
        self.queue, self.on_crash = self.policies.queue, self.policies.on_crash
        self.retries, self.backoff, self.timeout = self.policies.retries, self.policies.backoff, self.policies.timeout
        self.isolation = isolation
        self.memory = memory
        self._send = send
        self._finisher = finisher
        self.reconciler: TaskReconciler | None = None
        self._parameters = _checked_parameters(function, name)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Task {self.name}>"

    async def enqueue(self, **payload: Any) -> int:
        """Enqueue a run now; returns its id."""
        return await self._send(self, payload, {})

    def using(self, **options: Any) -> Sender:
        """Set options for `enqueue`, such as at=, delay=, queue=, priority=, idempotency_key=, actor=."""
        return Sender(self, self._send, options)

    @overload
    def reconcile(self, function: Callable[P2, R2], /) -> Callable[P2, R2]: ...

    @overload
    def reconcile(
        self, function: None = None, /, *, timeout: Duration = ...
    ) -> Callable[[Callable[P2, R2]], Callable[P2, R2]]: ...

    def reconcile(self, function: Callable[P2, R2] | None = None, /, *, timeout: Duration = _RECONCILE_TIMEOUT) -> Any:
        """Register the function that is called after a worker was lost: did the attempt have its effect?

        It returns "yes" (the run has succeeded), "no" (another attempt) or "unknown" (a person decides). An error, and
        a call that takes longer than `timeout`, count as "unknown". The task needs `on_crash="ask"`.
        """

        def register(function: Callable[P2, R2]) -> Callable[P2, R2]:
            if self.on_crash != "ask":
                raise DefinitionError(
                    f"task {self.name!r}: a reconcile function is only called with on_crash='ask'.",
                    field="on_crash",
                    hint="Pass it to @bird.task.",
                )
            if self.reconciler is not None:
                raise DefinitionError(
                    f"task {self.name!r} has two reconcile functions.", field="task", hint="Keep one."
                )
            shared = {name: found for name, found in self._parameters.items() if name != self.run_parameter}
            self.reconciler = TaskReconciler(
                self.name, function, self.prepare, shared, max(1, seconds(timeout, "timeout"))
            )
            return function

        return register if function is None else register(function)

    @cached_property
    def blocking(self) -> bool:
        return not inspect.iscoroutinefunction(self.function)

    @cached_property
    def run_parameter(self) -> str | None:
        """The parameter that receives the Run, by its annotation."""
        wanted = [name for name, hint in self._hints.items() if hint is Run and name in self._parameters]
        if len(wanted) > 1:
            raise DefinitionError(
                f"task {self.name!r} has more than one Run parameter: {', '.join(wanted)}.",
                field="task",
                hint="Keep one of them.",
            )
        return wanted[0] if wanted else None

    @cached_property
    def _needs_payload(self) -> bool:
        """True if a parameter without a default must be in the payload."""
        given = (name for name, parameter in self._parameters.items() if parameter.default is parameter.empty)
        return any(name != self.run_parameter for name in given)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        try:
            return typing.get_type_hints(self.function, include_extras=True)
        except (NameError, TypeError) as error:
            raise DefinitionError(
                f"task {self.name!r} has an annotation that cannot be resolved: {error}.",
                field="task",
                hint="Define or import that type at module level.",
            ) from None

    @cached_property
    def _model(self) -> type[BaseModel]:
        from pydantic import ConfigDict, Field, PydanticUserError, create_model
        from pydantic.errors import PydanticSchemaGenerationError

        # Fields are numbered and have aliases, so that a parameter name cannot clash with names of pydantic.
        fields: dict[str, Any] = {}
        for index, (name, parameter) in enumerate(self._parameters.items()):
            if name != self.run_parameter:
                default = ... if parameter.default is parameter.empty else parameter.default
                fields[f"p{index}"] = (self._hints.get(name, Any), Field(default, alias=name))
        try:
            return create_model(
                self.name, __config__=ConfigDict(extra="forbid", ser_json_inf_nan="constants"), **fields
            )
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            raise DefinitionError(
                f"task {self.name!r} has a parameter that JSON cannot represent: {str(error).splitlines()[0]}",
                field="task",
                hint="Use plain values, dates, dataclasses or pydantic models.",
            ) from None

    @cached_property
    def _names(self) -> dict[str, str]:
        """The parameter of each model field."""
        return {field: info.alias or field for field, info in self._model.model_fields.items()}

    def validate(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the payload as JSON, as it will be stored; raises PayloadError if it does not fit the signature."""
        from pydantic import ValidationError

        if not isinstance(payload, Mapping):
            raise PayloadError(f"payload of task {self.name!r} must be an object with its arguments.", field="payload")
        wanted = self._model
        try:
            model = wanted.model_validate(dict(payload))
            sent: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
            check_payload(sent)
        except ValidationError as error:
            raise PayloadError(f"payload of task {self.name!r}: {_reasons(error)}.", field="payload") from None
        except DefinitionError as error:
            raise PayloadError(f"task {self.name!r}: {error}", field="payload") from None
        except (ValueError, TypeError, RecursionError) as error:
            reason = str(error).splitlines()[0][:200]
            raise PayloadError(
                f"payload of task {self.name!r} cannot be sent as JSON: {reason}.",
                hint="Use only values that JSON can represent.",
            ) from None
        return sent

    def prepare(self, run: Run) -> Mapping[str, Any]:
        """Typed arguments from the stored payload, and the Run if a parameter needs it."""
        arguments = self._arguments(run.payload) if run.payload or self._needs_payload else {}
        run.finisher = self._finisher
        if self.run_parameter is not None:
            arguments[self.run_parameter] = run
        return arguments

    def _arguments(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        from pydantic import ValidationError

        try:
            model = self._model.model_validate(payload)
        except ValidationError as error:
            raise PayloadError(f"payload of task {self.name!r}: {_reasons(error)}.", field="payload") from None
        return {self._names[field]: getattr(model, field) for field in model.model_fields_set}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        return self.function(**arguments)  # type: ignore[call-arg]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The policies of its schedules and runs, unless they set others."""
        return {name: getattr(self.policies, name) for name in TASK_SETTINGS}

    def describe(self) -> Mapping[str, Any]:
        """Settings, description and JSON Schema, as workers publish them."""
        schema = self._model.model_json_schema(by_alias=True)
        return {**publish_settings(self.policies), "description": inspect.getdoc(self.function) or "", "schema": schema}


class TaskApp(Protocol):
    """The part of an app that has tasks."""

    tasks: dict[str, Task[Any, Any]]


def registered(app: TaskApp) -> list[Task[Any, Any]]:
    return [*app.tasks.values()]


class Sender:
    """A task with options for `enqueue`."""

    def __init__(self, task: Task[Any, Any], send: Send, options: Mapping[str, Any]) -> None:
        self._task, self._send, self._options = task, send, options

    async def enqueue(self, **payload: Any) -> int:
        """Enqueue the run; returns its id."""
        return await self._send(self._task, payload, self._options)


def _checked_parameters(function: Callable[..., Any], name: str) -> dict[str, inspect.Parameter]:
    """The parameters of a function; raises DefinitionError if one cannot be passed by name."""
    if not inspect.isroutine(function) or isinstance(function, classmethod | staticmethod):
        raise DefinitionError(
            f"task {name!r} must be a function.", field="task", hint="Define it with `def` or `async def` in a module."
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise DefinitionError(f"task {name!r} is a generator.", field="task", hint="Return one result.")
    parameters = dict(inspect.signature(function).parameters)
    for parameter in parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise DefinitionError(
                f"task {name!r}: parameter {parameter} cannot be passed by name.",
                field="task",
                hint="A payload is an object, so use plain named parameters.",
            )
    return parameters


def _reasons(error: Any) -> str:
    """The errors of pydantic in one sentence: `limit: Input should be a valid integer`."""
    reasons = [f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()[:3]]
    return "; ".join(reasons)
