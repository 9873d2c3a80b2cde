"""Database roles for teams that use plain SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class DatabaseRoles(Protocol):
    """The roles of viewers, operators and admins, in the database of a store."""

    @property
    def script(self) -> str:
        """The SQL that creates them, for an administrator. It can be executed again."""
        ...

    async def create(self) -> Sequence[str]:
        """Create the missing roles, grant all of them their permissions, and return the names of the new ones.

        Raises PermissionError if the login may not create roles.
        """
        ...
