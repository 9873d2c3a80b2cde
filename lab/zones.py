"""Zone files with any rule, to test changes of time zone data."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from tickbird.domain.triggers.zone_override import zones_of as zones_of


def write_zone(folder: Path, name: str, rule: str, version: str) -> Path:
    """A zone file for a folder of PYTHONTZPATH: one permanent rule, such as `CET-1` or `CET-1CEST,M3.5.0,M10.5.0/3`."""
    match = re.match(r"([A-Za-z]+)(-?\d+)", rule)
    assert match is not None, f"not a rule: {rule}"
    letters = match[1].encode() + b"\0"
    header = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, 0, 1, len(letters))
    kinds = struct.pack(">lbb", -int(match[2]) * 3600, 0, 0) + letters
    path = folder.joinpath(*name.split("/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + kinds + header + kinds + b"\n" + rule.encode() + b"\n")
    (folder / "+VERSION").write_text(f"{version}\n")
    return folder
