"""A command below a supervisor, from its start until all its processes have ended."""

from __future__ import annotations

from dataclasses import asdict

from tickbird.engine.processes.supervised_process import CHILD_VARIABLE, RunStopped, SupervisedProcess
from tickbird.engine.processes.task_process import RunRequest
from tickbird.engine.task_errors import LateStart, TaskFailure
from tickbird.targets.protocol import EncodedResult, LaunchSpec


class CommandProcess(SupervisedProcess):
    """Used in the children's loop; executes one run."""

    def __init__(self) -> None:
        super().__init__("program", "-")

    async def execute(self, request: RunRequest, spec: LaunchSpec) -> EncodedResult:
        """Start the program and wait for its end; raises TaskFailure, LateStart or RunStopped."""
        request.on_stop = self._news.set
        for output in self._outputs:
            output.begin(request.run)
        # The marker identifies the processes that it starts, if its supervisor is killed.
        marked = {**spec.env, CHILD_VARIABLE: self._token}
        await self._send({**asdict(spec), "env": marked, "begin_by": request.begin_by()})
        await self._wait_for_start(request)
        await self._wait_for_end(request)
        if request.grace is not None:
            raise RunStopped
        code = self._ending.get("status")
        if code in spec.success:
            return EncodedResult({"exit_code": code})
        last = self._last_lines()
        raise TaskFailure(f"{last}\n\n{spec.argv[0]} {self._end()}" if last else f"{spec.argv[0]} {self._end()}")

    async def _wait_for_start(self, request: RunRequest) -> None:
        """Wait until the channel closes, which the exec of the program does."""
        while not self._hung_up and not self.gone and request.grace is None:
            await self._until_news(None)
        for message in self._drain_messages():
            await self.kill(0)
            if "late" in message:
                raise LateStart
            raise TaskFailure(message["failed"])
        request.started()

    async def _wait_for_end(self, request: RunRequest) -> None:
        """Wait until all its processes have ended, with or without a stop."""
        is_stopping = False
        deadline: float | None = None
        while not self.gone:
            if request.grace is not None:
                if not is_stopping:
                    is_stopping = True
                    self._order(b"ask\n")
                now = self._loop.time()
                deadline = now + request.grace if deadline is None else min(deadline, now + request.grace)
                if now >= deadline:
                    break
            await self._until_news(deadline)
        await self.kill(0)
