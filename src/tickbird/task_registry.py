"""The tasks of an app and the schedules that its code declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from tickbird.domain.errors import DefinitionError, NotFoundError
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition, Target
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.targets.byte_sizes import byte_count
from tickbird.domain.targets.command import check_variables, command
from tickbird.domain.targets.registry import read_spec
from tickbird.domain.targets.spec import TargetSpec
from tickbird.domain.targets.sql import SqlSpec, check_part
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.text import check_new_name
from tickbird.domain.triggers.trigger import Trigger
from tickbird.targets.protocol import Executable, Isolation, Run
from tickbird.targets.task import Task

# Loads on first use, so that importing an app's code stays fast.
if TYPE_CHECKING:
    from tickbird.targets.role_slots import RoleSlots
    from tickbird.targets.sql_statements import SqlConnection, SqlStatement

P = ParamSpec("P")
R = TypeVar("R")


class TaskRegistry(ABC):
    """The tasks and schedules that an app's code registers on import. Nothing is written to a store."""

    def __init__(self, commands: Iterable[str] = (), command_env: Iterable[str] = (), sql_connections: int = 4) -> None:
        self.tasks: dict[str, Task[Any, Any]] = {}
        # Programs that its workers may start for schedules; all others are refused.
        self.allows: tuple[str, ...] = (commands,) if isinstance(commands, str) else tuple(commands)
        # Variables that definitions of such programs may set, or read from the environment of its workers.
        self.allows_env: tuple[str, ...] = check_variables(command_env)
        # Connections of each worker for the SQL functions of one role, and for each named connection.
        self.sql_connections = _checked_connections(sql_connections)
        self.sql_statements: dict[str, SqlStatement] = {}
        self._sql_connections: dict[str, tuple[SqlConnection, RoleSlots]] = {}
        self._declared: dict[str, Definition] = {}
        # The value of `durable` for schedules that do not state it.
        self.durable_by_default = True

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

        With `isolation="process"`, killable child processes of the worker execute its runs. `memory=` ("512MB")
        limits the memory of such a process and its descendants.
        """

        def register(function: Callable[P, R]) -> Task[P, R]:
            chosen = name if name is not None else str(getattr(function, "__name__", ""))
            checked = policies({key: value for key, value in options.items() if key != "payload"})
            own = {key: value for key, value in checked.items() if key in TASK_SETTINGS}
            if schedule is None and len(own) < len(options):
                extra = ", ".join(sorted(set(options) - set(own)))
                raise DefinitionError(
                    f"task {chosen!r}: {extra} is an option of a schedule.", hint="Pass schedule= too."
                )
            limit = _checked_isolation(chosen, isolation, memory)
            task = Task(
                self.prepare(function), chosen, self._send, isolation=isolation, memory=limit, finisher=self, **own
            )
            if chosen in self.tasks:
                raise DefinitionError(
                    f"there are two tasks named {chosen!r}.", field="task", hint="Pass another name= for one of them."
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
        """Declare a schedule of a task, or of the spec of another target, such as a `command(...)`.

        Policies that are not set here are the task's.
        """
        check_new_name(name, "schedule")
        if isinstance(task, TargetSpec):
            self._check_schedule(name, trigger)
            self._declared[name] = Definition(
                trigger=trigger, target=read_spec(task.kind, task), payload=payload or {}, **self._policies(options)
            )
            return
        if not isinstance(task, Task | str):
            raise DefinitionError(
                f"schedule {name!r}: {getattr(task, '__name__', task)!r} is not a task.",
                field="task",
                hint="Register the function with @bird.task first.",
            )
        self._check_schedule(name, trigger)
        registered = self.tasks.get(task if isinstance(task, str) else task.name)
        if registered is None or (isinstance(task, Task) and registered is not task):
            names = ", ".join(sorted(self.tasks)) or "none yet"
            raise NotFoundError(
                f"schedule {name!r}: this app has no task {task if isinstance(task, str) else task.name!r}.",
                hint=f"Register it with @bird.task first (registered: {names}).",
            )
        definition = Definition(
            trigger=trigger,
            target=Target(registered.name),
            payload=registered.validate(payload or {}),
            **{**registered.settings, **self._policies(options)},
        )
        self._declared[name] = definition

    def _policies(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked policies of a schedule, with the app's default of `durable`."""
        return policies(options if self.durable_by_default else {"durable": False, **options})

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
        input: str | None = None,  # noqa: A002 - the name that subprocess uses
        payload: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Declare a schedule of a program: a list that starts with its full path, or `shell=` with a line for /bin/sh.

        A worker starts only programs that it allows: `Tickbird(commands=["/usr/local/bin/backup"])`, or
        `tickbird worker --allow-command`. It sets only variables that it allows: `command_env=["LEVEL"]`, or
        `--allow-env`.
        """
        started = command(
            args, shell=shell, program=program, env=env, folder=folder, user=user, success=success, input=input
        )
        self.schedule(name, started, schedule, payload=payload, **options)

    def sql_connection(self, name: str, url: str) -> None:
        """Register a database for statements: `postgresql://…`, `sqlite:///path`, or `env:NAME` for a URL that is a
        variable of the worker's environment.
        """
        from tickbird.targets.role_slots import RoleSlots
        from tickbird.targets.sql_statements import SqlConnection

        check_part(name, "connection")
        if name in self._sql_connections:
            raise DefinitionError(f"there are two connections named {name!r}.", field="connection", hint="Rename one.")
        self._sql_connections[name] = SqlConnection(name, url), RoleSlots(self.sql_connections)

    def sql_statement(self, name: str, statement: str, *, connection: str, autonomous: bool = False) -> SqlSpec:
        """Register a statement and return its target; parameters such as `%(region)s` are fields of the payload.

        With `autonomous`, it is executed outside of a transaction, as VACUUM and CREATE INDEX CONCURRENTLY need it.
        """
        from tickbird.targets.sql_statements import SqlStatement

        check_part(name, "statement")
        opened = self._sql_connections.get(connection)
        if opened is None:
            raise NotFoundError(
                f"statement {name!r}: there is no connection {connection!r}.", hint="Register it with sql_connection."
            )
        if not isinstance(statement, str) or not statement.strip():
            raise DefinitionError(f"statement {name!r}: must be a text.", field="statement")
        executable = SqlStatement(name, statement, *opened, autonomous=autonomous)
        if executable.name in self.sql_statements:
            raise DefinitionError(
                f"there are two statements named {executable.name!r}.", field="statement", hint="Rename one."
            )
        self.sql_statements[executable.name] = executable
        return SqlSpec(statement=name, connection=connection)

    @property
    def executables(self) -> dict[TargetKey, Executable]:
        """The executables of its workers on this machine, by kind and name."""
        from tickbird.targets.registry import find_executables

        return find_executables(self)

    def _check_schedule(self, name: str, trigger: Trigger) -> None:
        if not isinstance(trigger, Trigger):
            raise DefinitionError(
                f"schedule {name!r}: {str(trigger)[:60]!r} is not a trigger.",
                field="trigger",
                hint="Use cron(...), every(...), rrule(...), at(...) or any_of(...).",
            )
        if name in self._declared:
            raise DefinitionError(
                f"there are two schedules named {name!r}.", field="schedule", hint="Rename one of them."
            )

    def prepare(self, function: Callable[P, R]) -> Callable[P, R]:
        """Wrap a function that becomes a task; an integration may override this to run code around each call."""
        return function

    @abstractmethod
    def finish_run(self, run: Run, connection: Any, result: Any) -> Any: ...

    @abstractmethod
    def transaction_of(self, connection: Any) -> Any: ...

    @abstractmethod
    async def _send(self, task: Task[Any, Any], payload: Mapping[str, Any], options: Mapping[str, Any]) -> int: ...


def _checked_connections(count: object) -> int:
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 100:
        raise DefinitionError(
            f"sql_connections: {str(count)[:60]} is not a whole number from 1 to 100.", field="sql_connections"
        )
    return count


def _checked_isolation(task: str, isolation: object, memory: object) -> int | None:
    """Return the memory limit in bytes; raises DefinitionError for an unknown isolation."""
    if isolation not in (None, "process"):
        raise DefinitionError(
            f"task {task!r}: isolation {str(isolation)[:60]!r} is not supported.",
            field="isolation",
            hint='Use isolation="process", or omit it.',
        )
    if memory is None:
        return None
    if isolation is None:
        raise DefinitionError(
            f"task {task!r}: memory= can only limit a process.", field="memory", hint='Pass isolation="process" too.'
        )
    return byte_count(memory, "memory")
