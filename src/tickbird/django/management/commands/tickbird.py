"""`manage.py tickbird …`: Tickbird's command line, with the project's store and tasks."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tickbird.cli import main
from tickbird.django.project import bird


class Command(BaseCommand):
    """Passes all arguments on; `manage.py tickbird --help` shows the commands."""

    help = "Tickbird's command line: worker, migrate, ls, why, trigger and the others."
    requires_system_checks = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Called from the shell; manage.py has processed its own options."""
        _run_cli(_remove_options(argv[2:], ("--settings", "--pythonpath")))

    def add_arguments(self, parser: CommandParser) -> None:
        """Called by `call_command("tickbird", "migrate")`."""
        parser.add_argument("words", nargs="*")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raise CommandError for an exit code other than 0."""
        try:
            _run_cli(list(options["words"]))
        except SystemExit as end:
            if end.code:
                raise CommandError(f"tickbird exited with code {end.code}.", returncode=int(end.code)) from None


def _run_cli(words: list[str]) -> None:
    os.environ["TICKBIRD_URL"] = bird.url
    os.environ["TICKBIRD_APP"] = "tickbird.django.project:bird"
    main([*(("--namespace", bird.namespace) if bird.namespace != "default" else ()), *words])


def _remove_options(words: list[str], names: tuple[str, ...]) -> list[str]:
    remaining: list[str] = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in names:
            words[:1] = []
        elif not word.startswith(tuple(f"{name}=" for name in names)):
            remaining.append(word)
    return remaining
