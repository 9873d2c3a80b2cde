"""The tasks of an app and the schedules that its code declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from tickbird.domain.errors import DefinitionError, NotFoundError
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition, Target
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.targets.byte_sizes import byte_count
from tickbird.domain.targets.command import check_variables, command
from tickbird.domain.targets.registry import read_spec
from tickbird.domain.targets.spec import TargetSpec
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.text import check_new_name
from tickbird.domain.triggers.trigger import Trigger
from tickbird.targets.protocol import Executable, Isolation
from tickbird.targets.task import Task

P = ParamSpec("P")
R = TypeVar("R")


class TaskRegistry:
    """All that an app registers when its code is imported; nothing of it is written to a store."""

    def __init__(self, commands: Iterable[str] = (), command_env: Iterable[str] = ()) -> None:
        self.tasks: dict[str, Task[Any, Any]] = {}
        # Programs that its workers start where schedules ask for them; all others are refused.
        self.allows: tuple[str, ...] = (commands,) if isinstance(commands, str) else tuple(commands)
        # Variables that definitions of such programs may set, and read from the environment of its workers.
        self.allows_env: tuple[str, ...] = check_variables(command_env)
        self._declared: dict[str, Definition] = {}

    @overload
    def task(self, function: Callable[P, R], /) -> Task[P, R]: ...

    @overload
    def task(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        schedule: Trigger | None = None,
        isolation: Isolation | None = None,
        memory: int | str | None = None,
        **options: Any,
    ) -> Callable[[Callable[P, R]], Task[P, R]]: ...

    def task(
        self,
        function: Callable[P, R] | None = None,
        /,
        *,
        name: str | None = None,
        schedule: Trigger | None = None,
        isolation: Isolation | None = None,
        memory: int | str | None = None,
        **options: Any,
    ) -> Task[P, R] | Callable[[Callable[P, R]], Task[P, R]]:
        """Register a function as a task; with `schedule=`, also declare a schedule of the same name.

        With `isolation="process"` its runs execute in child processes of the worker, which can be killed; `memory=`
        ("512MB") limits what such a process and all that it starts may take.
        """

        def register(function: Callable[P, R]) -> Task[P, R]:
            chosen = name if name is not None else str(getattr(function, "__name__", ""))
            given = policies({key: value for key, value in options.items() if key != "payload"})
            own = {key: value for key, value in given.items() if key in TASK_SETTINGS}
            if schedule is None and len(own) < len(options):
                extra = ", ".join(sorted(set(options) - set(own)))
                raise DefinitionError(f"task {chosen!r}: {extra} belongs to a schedule;", hint="give schedule= too.")
            limit = _checked_isolation(chosen, isolation, memory)
            task = Task(self.prepare(function), chosen, self._send, isolation=isolation, memory=limit, **own)
            if chosen in self.tasks:
                raise DefinitionError(
                    f"there are two tasks named {chosen!r};", field="task", hint="give one of them another name=."
                )
            self.tasks[chosen] = task
            if schedule is not None:
                try:
                    self.schedule(chosen, task, schedule, **options)
                except Exception:
                    del self.tasks[chosen]
                    raise
            return task

        return register if function is None else register(function)

    def schedule(
        self,
        name: str,
        task: Task[..., Any] | str | TargetSpec,
        trigger: Trigger,
        *,
        payload: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Declare a schedule of a task in code, or of the spec of another target, such as a `command(...)`.

        Policies not given here are the task's.
        """
        check_new_name(name, "schedule")
        if isinstance(task, TargetSpec):
            self._check_schedule(name, trigger)
            self._declared[name] = Definition(
                trigger=trigger, target=read_spec(task.kind, task), payload=payload or {}, **policies(options)
            )
            return
        if not isinstance(task, Task | str):
            raise DefinitionError(
                f"schedule {name!r}: {getattr(task, '__name__', task)!r} is not a task;",
                field="task",
                hint="register the function with @bird.task first.",
            )
        self._check_schedule(name, trigger)
        registered = self.tasks.get(task if isinstance(task, str) else task.name)
        if registered is None or (isinstance(task, Task) and registered is not task):
            known = ", ".join(sorted(self.tasks)) or "none yet"
            raise NotFoundError(
                f"schedule {name!r}: this app has no task {task if isinstance(task, str) else task.name!r};",
                hint=f"register it with @bird.task first (known: {known}).",
            )
        definition = Definition(
            trigger=trigger,
            target=Target(registered.name),
            payload=registered.validate(payload or {}),
            **{**registered.settings, **policies(options)},
        )
        self._declared[name] = definition

    def command(
        self,
        name: str,
        args: Sequence[str] | None = None,
        *,
        schedule: Trigger,
        shell: str | None = None,
        program: str | None = None,
        env: Mapping[str, Any] | None = None,
        folder: str | None = None,
        user: str | None = None,
        success: int | Iterable[int] = (0,),
        input: str | None = None,  # noqa: A002 - as subprocess has it
        payload: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Declare a schedule of a program: a list with its whole path first, or `shell=` with a line for /bin/sh.

        A worker starts only programs that it allows: `Tickbird(commands=["/usr/local/bin/backup"])`, or
        `tickbird worker --allow-command`. It sets only variables that it allows: `command_env=["LEVEL"]`, or
        `--allow-env`.
        """
        started = command(
            args, shell=shell, program=program, env=env, folder=folder, user=user, success=success, input=input
        )
        self.schedule(name, started, schedule, payload=payload, **options)

    @property
    def executables(self) -> dict[TargetKey, Executable]:
        """The executables of its workers on this machine now, by kind and name."""
        from tickbird.targets.registry import find_executables

        return find_executables(self)

    def _check_schedule(self, name: str, trigger: Trigger) -> None:
        if not isinstance(trigger, Trigger):
            raise DefinitionError(
                f"schedule {name!r}: {str(trigger)[:60]!r} is not a trigger;",
                field="trigger",
                hint="use cron(...), every(...), rrule(...), at(...) or any_of(...).",
            )
        if name in self._declared:
            raise DefinitionError(f"there are two schedules named {name!r};", field="schedule", hint="rename one.")

    def prepare(self, function: Callable[P, R]) -> Callable[P, R]:
        """What is done to a function that becomes a task; an integration may do something around each call."""
        return function

    async def _send(self, task: Task[Any, Any], payload: Mapping[str, Any], options: Mapping[str, Any]) -> int:
        """What `task.enqueue` does."""
        raise NotImplementedError


def _checked_isolation(task: str, isolation: object, memory: object) -> int | None:
    """The limit in bytes of a task in child processes."""
    if isolation not in (None, "process"):
        raise DefinitionError(
            f"task {task!r}: isolation {str(isolation)[:60]!r} is not known;",
            field="isolation",
            hint='use isolation="process", or leave it out.',
        )
    if memory is None:
        return None
    if isolation is None:
        raise DefinitionError(
            f"task {task!r}: memory= can only limit a process;", field="memory", hint='give isolation="process" too.'
        )
    return byte_count(memory, "memory")
