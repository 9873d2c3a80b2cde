"""The `server` command."""

from __future__ import annotations

import click

from tickbird.cli.errors import Failed
from tickbird.cli.logging import LEVELS, log_to_stderr
from tickbird.cli.options import Command, GlobalOptions


@click.command(cls=Command)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8420, show_default=True, help="Port; 0 means any free port."
)
@click.option("--certfile", metavar="PEM", help="Certificate to serve TLS with.")
@click.option("--keyfile", metavar="PEM", help="Private key (default: in the certificate file).")
@click.option(
    "--trust-proxy",
    default="",
    metavar="A,B",
    help="Proxy addresses whose X-Forwarded-For and X-Forwarded-Proto are trusted (default: none).",
)
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="Minimum level logged to stderr."
)
@click.pass_obj
def server(
    settings: GlobalOptions,
    host: str,
    port: int,
    certfile: str | None,
    keyfile: str | None,
    trust_proxy: str,
    log_level: str,
) -> None:
    """Serve the dashboard and the HTTP API.

    Each user needs a token. The server does not start while the store has no live token. After SIGTERM or Ctrl-C,
    requests in progress have ten seconds to end.
    """
    if keyfile is not None and certfile is None:
        raise click.UsageError("--keyfile requires --certfile.", click.get_current_context())
    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise Failed(
            "the server needs FastAPI, Jinja2 and uvicorn.", hint="Install them with `pip install 'tickbird[server]'`."
        ) from None
    from tickbird.server import Address, main

    log_to_stderr("debug" if settings.debug else log_level)
    main(settings.store_url, Address(host, port, certfile, keyfile, trust_proxy))
