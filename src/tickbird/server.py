"""The server: the API and the dashboard on one store, served by uvicorn."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tickbird.client import StoreClient
from tickbird.domain.errors import ConflictError, InvalidError, StoreError
from tickbird.store.protocol.capabilities import CAPABILITIES
from tickbird.store.protocol.store import Store
from tickbird.stores import must_exist, open_store

log = logging.getLogger("tickbird.server")
DEFAULT_PORT: Final = 8420
# Further connections get a 503; requests may take this many seconds after the server is stopped.
_MAX_CONNECTIONS: Final = 2_000
_LAST_REQUESTS: Final = 10
# Seconds. A client should get an error from a busy store sooner than planning would.
STATEMENT_WITHIN: Final = 5.0
_SETTINGS: Final[dict[str, Any]] = {
    "server_header": False,
    "access_log": False,
    "log_config": None,
    "lifespan": "off",
    "ws": "none",
    "limit_concurrency": _MAX_CONNECTIONS,
    "timeout_graceful_shutdown": _LAST_REQUESTS,
}


@dataclass(frozen=True, slots=True)
class Address:
    """The address to listen on, and its public form."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    certfile: str | None = None
    keyfile: str | None = None
    # Addresses of proxies whose X-Forwarded headers are trusted.
    trusted: str = ""

    @property
    def scheme(self) -> str:
        """The scheme of the URLs that browsers use."""
        return "http" if self.certfile is None else "https"


def _server(config: Any, site: Any) -> Any:
    import uvicorn

    class Ending(uvicorn.Server):
        """Does not wait for event streams at the end, because they never finish."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            site.state.streams.close()
            await super().shutdown(sockets)

    return Ending(config)


async def serve(store: Store, address: Address, started: Callable[[str], None] = lambda url: None) -> None:
    """Serve until a signal; calls `started` with the URL."""
    import uvicorn

    from tickbird.api.middleware.slow_clients import HeaderTimeoutProtocol
    from tickbird.web.app import create_site

    if "tokens" not in store.capabilities:
        # Without tokens, every request would be refused.
        raise CAPABILITIES["tokens"].error()
    site = create_site(lambda namespace: StoreClient(store, namespace))
    listening = _listen(address)
    settings: dict[str, Any] = {
        **_SETTINGS,
        "proxy_headers": bool(address.trusted),
        "forwarded_allow_ips": address.trusted or None,
        "ssl_certfile": address.certfile,
        "ssl_keyfile": address.keyfile,
    }
    try:
        config = uvicorn.Config(site, http=HeaderTimeoutProtocol, **settings)
        _load(config, address)
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        started(f"{address.scheme}://{shown}:{port}")
        # After a graceful shutdown, uvicorn raises the signal again.
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signal_number, lambda *_: None)
        await _server(config, site).serve([listening])
        await site.state.authority.settle()
    finally:
        listening.close()


class Beside:
    """The API without tokens, for users of this machine, in a thread of the current process."""

    def __init__(self, url: str, namespace: str, port: int | None = None) -> None:
        """Listen now, at this port or at the default one if it is free; requests are served after `start`."""
        self._url = url
        self._namespace = namespace
        try:
            self._listening = _listen(Address(port=DEFAULT_PORT if port is None else port))
        except InvalidError:
            if port is not None:
                raise
            self._listening = _listen(Address(port=0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._ending = threading.Event()
        self._server: Any = None
        self._thread = threading.Thread(target=self._run, name="tickbird server", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the server and close its event streams."""
        self._ending.set()
        if self._server is not None:
            self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(_LAST_REQUESTS + 5)
        self._listening.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception:
            log.exception("the local server failed")

    async def _serve(self) -> None:
        import uvicorn

        from tickbird.api.middleware.slow_clients import HeaderTimeoutProtocol
        from tickbird.web.app import create_site

        store = open_store(self._url, within=STATEMENT_WITHIN)
        while not self._ending.is_set():
            try:
                await store.open()
                break
            except StoreError:
                # A worker that starts at the same time may be creating the store.
                await asyncio.sleep(0.5)
        try:
            if self._ending.is_set():
                return
            site = create_site(lambda namespace: StoreClient(store, namespace), loopback=self._namespace)
            self._server = _server(uvicorn.Config(site, http=HeaderTimeoutProtocol, **_SETTINGS), site)
            await self._server.serve([self._listening])
        finally:
            await store.close()


async def run(url: str, address: Address) -> None:
    """Open a store and serve it; ConflictError if it has no active token."""
    store = open_store(url, within=STATEMENT_WITHIN)
    must_exist(store)
    await store.open()
    try:
        await _check_tokens(StoreClient(store), store.url)

        def started(at: str) -> None:
            if not _is_loopback(address.host) and address.certfile is None and not address.trusted:
                log.warning("tokens are sent in plain text: use --certfile, or a proxy with TLS")
            log.info("serving %s at %s", store.url, at)

        await serve(store, address, started)
        log.info("server stopped")
    finally:
        await store.close()


async def _check_tokens(client: StoreClient, url: str) -> None:
    if not await client.tokens.list(live=True, limit=1):
        raise ConflictError(
            "the store has no active token, so every request would be refused.",
            hint=f"Create one: tickbird token create {_user()} --role admin --all-namespaces --url {url}",
        )


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "admin"


def _listen(address: Address) -> socket.socket:
    try:
        [(family, *_, address_info), *_] = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        return socket.create_server(address_info[:2], family=family, backlog=1_024)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidError(
            f"cannot listen at {address.host}:{address.port} ({reason}).",
            field="host",
            hint="Choose another --host or --port.",
        ) from None


def _load(config: Any, address: Address) -> None:
    """Load the certificate now, so that a wrong one gives a clear error."""
    try:
        config.load()
    except OSError as error:
        raise InvalidError(
            f"cannot use the certificate {address.certfile!r} ({error.strerror or error}).",
            field="certfile",
            hint="Pass a PEM file with --certfile, and its key with --keyfile.",
        ) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def main(url: str, address: Address) -> None:
    asyncio.run(run(url, address))
