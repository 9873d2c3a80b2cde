"""The `schema` command."""

from __future__ import annotations

import json

import click

from tickbird.cli.options import Command, GlobalOptions


@click.command(cls=Command)
@click.pass_obj
def schema(settings: GlobalOptions) -> None:
    """Print the JSON Schema of schedule files, for editors."""
    from tickbird.files.json_schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
