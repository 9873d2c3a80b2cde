"""Tickbird over HTTP: thin routes onto the client, one file per noun."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "/api/v1"
