"""Static files, served under a content hash so that browsers can cache them forever."""

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
_CACHE_FOREVER: Final = {"Cache-Control": "public, max-age=31536000, immutable"}


@cache
def _assets() -> tuple[str, dict[str, bytes]]:
    """Return one hash of all files, because scripts import each other by relative path, and the files by name."""
    folder = files("tickbird.web") / "static"
    contents = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _TYPES}
    digest = hashlib.blake2b(digest_size=6)
    for name, content in sorted(contents.items()):
        digest.update(name.encode() + content)
    return digest.hexdigest(), contents


def asset_path(name: str) -> str:
    """Return the path of a file within the dashboard."""
    digest, contents = _assets()
    if name not in contents:
        raise LookupError(f"static file {name!r} does not exist")
    return f"/static/{digest}/{name}"


async def asset(request: Request) -> Response:
    """Serve a file; the hash of an earlier version is a 404."""
    digest, contents = _assets()
    name = request.path_params["name"]
    if request.path_params["mark"] != digest or name not in contents:
        return Response("This file does not exist.", 404, media_type="text/plain")
    return Response(contents[name], headers={**_CACHE_FOREVER, "Content-Type": _TYPES[name.rpartition(".")[2]]})
