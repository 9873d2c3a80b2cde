"""The command that serves the dashboard and the HTTP API."""

from __future__ import annotations

import click

from tickbird.cli.errors import Failed
from tickbird.cli.logging import LEVELS, log_to_stderr
from tickbird.cli.options import Command, GlobalOptions


@click.command(cls=Command)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8420, show_default=True, help="0 takes any free one.")
@click.option("--certfile", metavar="PEM", help="The certificate to serve TLS with.")
@click.option("--keyfile", metavar="PEM", help="Its key; else it is in the certificate's file.")
@click.option(
    "--trust-proxy", default="", metavar="A,B", help="Addresses of proxies whose X-Forwarded headers are believed."
)
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="What is logged to stderr."
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
    """Serve the dashboard and the HTTP API, to those who have a token.

    SIGTERM or Ctrl-C lets requests end that have begun, then the process ends with 0. It refuses to start while the
    store has no live token.
    """
    if keyfile is not None and certfile is None:
        raise click.UsageError("--keyfile needs --certfile.", click.get_current_context())
    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise Failed(
            "the server needs FastAPI, Jinja2 and uvicorn;", hint="install them with `pip install 'tickbird[server]'`."
        ) from None
    from tickbird.server import Address, main

    log_to_stderr("debug" if settings.debug else log_level)
    main(settings.store_url, Address(host, port, certfile, keyfile, trust_proxy))
