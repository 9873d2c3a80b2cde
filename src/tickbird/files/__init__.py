"""Schedules in files: reading TOML, YAML and JSON, planning what they change, and writing them."""

from __future__ import annotations

from tickbird.files.diagnostics import Diagnostic, DocumentError, OwnedError
from tickbird.files.document import Document, read_bytes, read_document, read_files

__all__ = ["Diagnostic", "Document", "DocumentError", "OwnedError", "read_bytes", "read_document", "read_files"]
