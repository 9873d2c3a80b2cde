"""What pages load besides themselves: served by us, marked by its content, so that browsers keep it for good."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FOR_GOOD: Final = {"Cache-Control": "public, max-age=31536000, immutable"}


@cache
def _assets() -> tuple[str, dict[str, bytes]]:
    """All files by name, and one mark of their content: scripts import each other from beside themselves."""
    folder = files("tickbird.web") / "static"
    found = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _TYPES}
    digest = hashlib.blake2b(digest_size=6)
    for name, content in sorted(found.items()):
        digest.update(name.encode() + content)
    return digest.hexdigest(), found


def asset_path(name: str) -> str:
    """Where a file is served, within the dashboard."""
    mark, found = _assets()
    if name not in found:
        raise LookupError(f"pages have no file {name!r}")
    return f"/static/{mark}/{name}"


async def asset(request: Request) -> Response:
    """A file; what was there before an upgrade is not confused with it."""
    mark, found = _assets()
    name = request.path_params["name"]
    if request.path_params["mark"] != mark or name not in found:
        return Response("There is no such file.", 404, media_type="text/plain")
    return Response(found[name], headers={**_FOR_GOOD, "Content-Type": _TYPES[name.rpartition(".")[2]]})
