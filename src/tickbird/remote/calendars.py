"""Stored calendars over HTTP."""

from __future__ import annotations

from tickbird.client.calendars import Calendars
from tickbird.remote.base import Remote


class RemoteCalendars(Remote, Calendars):
    """The verbs about calendars."""
