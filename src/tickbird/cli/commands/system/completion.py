"""The `completion` command."""

from __future__ import annotations

import click

from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import print_result

_WHERE = {
    "bash": 'eval "$(tickbird completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(tickbird completion zsh)"  # in ~/.zshrc',
    "fish": "tickbird completion fish | source  # in ~/.config/fish/config.fish",
}


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(tuple(_WHERE)))
@click.pass_obj
def completion(settings: GlobalOptions, shell: str) -> None:
    """Print the shell completion script.

    For example, in ~/.bashrc: eval "$(tickbird completion bash)".
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    # Not `source()`: it starts the shell to check its version.
    generator = kind(click.get_current_context().find_root().command, {}, "tickbird", "_TICKBIRD_COMPLETE")
    script = generator.source_template % generator.source_vars()
    print_result(settings, lambda: {"shell": shell, "script": script}, lambda screen: screen.line(script, lines=True))
