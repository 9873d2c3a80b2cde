"""`manage.py tickbird …`: Tickbird's command line, on the project's store and with its tasks."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tickbird.cli import main
from tickbird.django.project import bird


class Command(BaseCommand):
    """Hands everything on; `manage.py tickbird --help` shows the commands."""

    help = "Tickbird's command line: worker, migrate, ls, why, trigger and the others."
    requires_system_checks = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """From the shell: the options of manage.py itself have been looked at already."""
        _hand_on(_without(argv[2:], ("--settings", "--pythonpath")))

    def add_arguments(self, parser: CommandParser) -> None:
        """From `call_command("tickbird", "migrate")`."""
        parser.add_argument("words", nargs="*")

    def handle(self, *args: Any, **options: Any) -> None:
        """Whatever is not 0 is an error."""
        try:
            _hand_on(list(options["words"]))
        except SystemExit as end:
            if end.code:
                raise CommandError(f"tickbird ended with {end.code}.", returncode=int(end.code)) from None


def _hand_on(words: list[str]) -> None:
    os.environ["TICKBIRD_URL"] = bird.url
    os.environ["TICKBIRD_APP"] = "tickbird.django.project:bird"
    main([*(("--namespace", bird.namespace) if bird.namespace != "default" else ()), *words])


def _without(words: list[str], names: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in names:
            words[:1] = []
        elif not word.startswith(tuple(f"{name}=" for name in names)):
            kept.append(word)
    return kept
