"""One command: a program below a supervisor, from its start to the end of everything that it started."""

from __future__ import annotations

from dataclasses import asdict

from tickbird.engine.processes.supervised_process import CHILD_VARIABLE, Stopped, SupervisedProcess
from tickbird.engine.processes.task_process import Call
from tickbird.engine.task_errors import LateStart, TaskFailure
from tickbird.targets.protocol import EncodedResult, LaunchSpec


class CommandProcess(SupervisedProcess):
    """Lives in the children's loop, and executes one run."""

    def __init__(self) -> None:
        super().__init__("program", "-")

    async def execute(self, call: Call, what: LaunchSpec) -> EncodedResult:
        """Start it and wait for its end; raises Failed, or Stopped when the call was."""
        call.on_stop = self._news.set
        for output in self._outputs:
            output.begin(call.run)
        # By this all that it starts is found, should somebody kill its supervisor.
        marked = {**what.env, CHILD_VARIABLE: self._token}
        await self._send({**asdict(what), "env": marked, "begin_by": call.begin_by()})
        await self._starts(call)
        await self._ends(call)
        if call.grace is not None:
            raise Stopped
        code = self._ending.get("status")
        if code in what.success:
            return EncodedResult({"exit_code": code})
        last = self._last_lines()
        raise TaskFailure(f"{last}\n\n{what.argv[0]} {self._end()}" if last else f"{what.argv[0]} {self._end()}")

    async def _starts(self, call: Call) -> None:
        """The line closes when the program takes the place of the child."""
        while not self._hung_up and not self.gone and call.grace is None:
            await self._until_news(None)
        for message in self._taken():
            await self.kill(0)
            if "late" in message:
                raise LateStart
            raise TaskFailure(message["failed"])
        call.started()

    async def _ends(self, call: Call) -> None:
        """Until nothing of it is left, by itself or because it was stopped."""
        asked = False
        ends: float | None = None
        while not self.gone:
            if call.grace is not None:
                if not asked:
                    asked = True
                    self._order(b"ask\n")
                now = self._loop.time()
                ends = now + call.grace if ends is None else min(ends, now + call.grace)
                if now >= ends:
                    break
            await self._until_news(ends)
        await self.kill(0)
