"""Leader mode in the simulation: terms only grow, and only the leader of the current term plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call


class LeaderTerms:
    """Follows elections and resignations, and checks each planning step against them."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._newest = 0
        self._current: int | None = None

    def see(self, call: Call) -> None:
        """Follow one call that succeeded."""
        if call.verb == "leadership.elect" and call.result.elected:
            term = call.result.lease.term
            if term <= self._newest:
                self._checker.broken("I12", f"term {term} after term {self._newest}")
            self._newest, self._current = max(term, self._newest), term
        elif call.verb == "leadership.elect" and call.result.lease.term != self._current:
            self._checker.broken("I12", f"the lease has term {call.result.lease.term}, not {self._current}")
        elif call.verb == "leadership.renew" and call.result is not None and call.args[0] != self._current:
            self._checker.broken("I12", f"term {call.args[0]} was renewed in term {self._current}")
        elif (call.verb == "leadership.resign" and call.result is not None) or call.verb == "leadership.remove":
            self._current = None
        elif call.verb == "planning.plan_due":
            self._see_plan(call)

    def _see_plan(self, call: Call) -> None:
        host = self._checker.record.hosts.get(call.host)
        leads = host is not None and host.in_leader_mode
        term, planned = call.options.get("term"), call.result.schedules
        if leads and term is None:
            self._checker.broken("I12", f"{call.host} plans without a term in leader mode")
        if term is not None and planned and term != self._current:
            self._checker.broken("I12", f"{call.host} planned {planned} schedules in term {term}, not {self._current}")
