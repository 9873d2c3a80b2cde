"""The program as a whole: help, pipes, terminals, interrupts, and that everything is documented."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

import tickbird.cli as cli_package
from tests.cli.conftest import Cli
from tickbird.__main__ import main as program
from tickbird.cli import COMMANDS, root
from tickbird.cli.errors import CODES
from tickbird.domain import errors

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
NAMES = [name for section in COMMANDS.values() for name in section]


def command(name: str) -> click.Command:
    """A command, imported."""
    found = root.get_command(click.Context(root), name)
    assert found is not None
    return found


def test_help_names_every_command_and_exit_code(bare: Cli) -> None:
    out = bare.ok("--help").out
    for name in NAMES:
        assert re.search(rf"^  {name} +\w", out, re.MULTILINE)
    for code in CODES:
        assert re.search(rf"^  {code} +\w", out, re.MULTILINE)


def test_help_imports_nothing_heavy() -> None:
    ask = (
        "import sys, tickbird.cli\n"
        "try: tickbird.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines())
    heavy = {"rich", "pydantic", "psycopg", "psycopg_pool", "jsonschema", "sqlite3", "cron_descriptor"}
    assert not loaded & heavy
    modules = {f"tickbird.cli.{module}" for section in COMMANDS.values() for module, _ in section.values()}
    assert not loaded & {*modules, "tickbird.cli.field_values", "tickbird.cli.file_watcher", "tickbird.worker"}


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_every_command(bare: Cli, name: str) -> None:
    out = bare.ok(name, "--help").out
    assert out.startswith(f"Usage: tickbird {name}")
    for option in ("--url", "--namespace", "--tz", "--json", "--debug"):
        assert option in out
    listed = {each: text for section in COMMANDS.values() for each, (_, text) in section.items()}
    assert command(name).get_short_help_str(200) == listed[name]


def test_every_command_of_a_module_is_listed() -> None:
    modules = {module for section in COMMANDS.values() for module, _ in section.values()}
    for module in modules:
        values = vars(import_module(f"tickbird.cli.commands.{module}")).values()
        grouped = [each for value in values if isinstance(value, click.Group) for each in value.commands.values()]
        for value in values:
            if isinstance(value, click.Command) and value not in grouped:
                assert value.name in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_command_and_option_is_documented(name: str) -> None:
    text = DOCS.read_text()
    [_, section, *_] = [*re.split(rf"\n### `tickbird {name}[ `]", text, maxsplit=1), ""]
    section = section.partition("\n### ")[0]
    assert f"$ tickbird {name}" in section, f"docs/cli.md shows no example of {name}"
    assert "Exit codes:" in section
    shared = {option for each in root.params for option in each.opts}
    for parameter in command(name).params:
        for option in parameter.opts if isinstance(parameter, click.Option) else ():
            assert f"`{option}" in (text if option in shared else section), f"docs/cli.md says nothing of {option}"


def test_every_exit_code_and_variable_is_documented() -> None:
    text = DOCS.read_text()
    for code, meaning in CODES.items():
        assert f"| {code} | {meaning} |" in text
    for variable in ("TICKBIRD_URL", "TICKBIRD_SERVER", "TICKBIRD_TOKEN", "TICKBIRD_APP", "TICKBIRD_ACTOR", "NO_COLOR"):
        assert variable in text


def test_every_kind_of_error_has_its_exit_code(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {
        errors.InvalidError: 2,
        errors.TriggerError: 2,
        errors.DefinitionError: 2,
        errors.PayloadError: 2,
        errors.PageTokenError: 2,
        errors.NotFoundError: 3,
        errors.ConflictError: 4,
        errors.StaleError: 4,
        errors.CountChangedError: 4,
        errors.LeaseLostError: 4,
        errors.StoreError: 5,
        errors.StoreUnavailableError: 5,
        errors.SchemaError: 5,
        errors.TermEndedError: 5,
        errors.SchedulesUnusableError: 5,
        errors.AccessError: 5,
        errors.ClosedNamespaceError: 5,
        errors.UnsupportedError: 6,
        errors.NotFinishedError: 1,
        errors.UnavailableError: 1,
        errors.EventRefusedError: 1,
        errors.TickbirdError: 1,
    }
    kinds = (kind for kind in vars(errors).values() if isinstance(kind, type))
    assert {kind for kind in kinds if issubclass(kind, errors.TickbirdError)} == set(expected)
    for kind, code in expected.items():

        def fail(*_: object, kind: type[errors.TickbirdError] = kind) -> None:
            raise kind("it went wrong;", hint="do this.")

        monkeypatch.setattr("tickbird.domain.triggers.cron.cron.Cron.__init__", fail)
        assert bare.refused(code, "preview", "--cron", "11 4 * * *") == "it went wrong; do this."


def test_unexpected_error_is_one_sentence(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("odd\x1b[2J")

    monkeypatch.setattr("tickbird.domain.triggers.cron.cron.Cron.__init__", fail)
    words = bare.refused(1, "preview", "--cron", "12 4 * * *")
    assert words == "unexpected KeyError: 'odd\\x1b[2J'. Run it again with --debug for details."


def test_closed_connection_is_not_an_interrupt(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise EOFError("closed")

    monkeypatch.setattr("tickbird.domain.triggers.cron.cron.Cron.__init__", fail)
    said = bare("preview", "--cron", "13 4 * * *")
    assert (said.code, said.out) == (1, "")
    assert "unexpected EOFError: closed" in said.err


@pytest.mark.parametrize(
    "args,words",
    [
        (("nothing",), "there is no command 'nothing'. See `tickbird --help`."),
        (("triger",), "there is no command 'triger'. Did you mean trigger? See `tickbird --help`."),
        (("ls", "--tz", "Mars/Phobos"), "there is no time zone 'Mars/Phobos'"),
        (("ls", "--nothing"), "no such option"),
        (("ls", "extra"), "got unexpected extra argument (extra). See `tickbird ls --help`."),
        (("ls", "--url", ""), "--url is empty. Give it a value, or omit it. See `tickbird ls --help`."),
        (("--url=", "ls"), "--url is empty"),
        (("ls", "--namespace="), "--namespace is empty"),
        (("show",), "missing argument 'NAME'. See `tickbird show --help`."),
        (("pause", "x"), "missing option '--note'. See `tickbird pause --help`."),
        (("ls", "--state", "lost"), "'lost' is not one of"),
        (("ls", "--contains", "a\0"), "the text has a character that a database cannot store"),
        (("ls", "--limit", "many"), "'many' is not a valid integer"),
    ],
)
def test_usage_error_is_one_sentence(bare: Cli, args: tuple[str, ...], words: str) -> None:
    assert words in bare.refused(2, *args)


def test_missing_command_shows_the_help(bare: Cli) -> None:
    said = bare()
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Usage: tickbird")


def test_the_version(bare: Cli) -> None:
    assert re.fullmatch(r"tickbird \d+\.\d+\.\d+\n", bare.ok("--version").out)


@pytest.mark.parametrize("args", [("ls",), ("ls", "--json"), ("why", "digest")])
def test_a_reader_that_has_had_enough(shop: Cli, args: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [sys.executable, "-m", "tickbird", *args],
        env={**os.environ, "TICKBIRD_URL": str(shop.url)},
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (process.returncode, process.stderr) == (0, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(shop: Cli, closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m tickbird ls {closed}', sys.executable],
        env={**os.environ, "TICKBIRD_URL": str(shop.url)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr, "digest" in done.stdout) == (0, "", ">&-" not in closed.replace("2>&-", ""))


def test_an_interrupt_while_it_loads_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_package, "main", interrupt)
    with pytest.raises(SystemExit) as left:
        program()
    assert (left.value.code, *capsys.readouterr()) == (130, "", "")


def test_an_interrupt_is_quiet(bare: Cli) -> None:
    # It waits for a payload that never comes.
    os.mkfifo("payload")
    process = bare.start("trigger", "x", "--payload", "@payload")
    with Path("payload").open("w"):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "\n")


def on_terminal(cli: Cli, *args: str, **env: str) -> str:
    """What a command prints on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    base = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tickbird", *args],
        env={**base, "TICKBIRD_URL": str(cli.url), "TERM": "xterm-256color", "COLUMNS": "80", **env},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    read = b""
    try:
        while chunk := os.read(ours, 65_536):
            read += chunk
    except OSError:
        pass  # how Linux tells that the other side has closed
    os.close(ours)
    assert process.wait(60) == 0
    return read.decode()


def test_colours_on_a_terminal_unless_they_are_not_wanted(shop: Cli) -> None:
    coloured = on_terminal(shop, "ls")
    assert "\x1b[32mactive" in coloured
    plain = on_terminal(shop, "ls", NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert "active" in plain
    for args in (("show", "etl"), ("why", "digest"), ("preview", "digest"), ("runs",)):
        assert on_terminal(shop, *args)


def test_table_that_is_too_wide_is_printed_as_fields(shop: Cli) -> None:
    shown = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(shop, "ls", COLUMNS="40")).splitlines()
    assert "trigger   At 09:00, Monday through Friday (America/New_York)" in shown
    assert [line for line in shown if line.startswith("name ")] == ["name      digest", "name      etl"]


def into_full_device(cli: Cli, *args: str, streams: tuple[str, ...], unbuffered: str) -> tuple[int, str]:
    """The exit code, and the text of stderr, of a command whose named streams are on a full disk."""
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "tickbird", *args],
            check=False,
            env={**os.environ, "TICKBIRD_URL": str(cli.url), "PYTHONUNBUFFERED": unbuffered},
            stdout=full if "stdout" in streams else subprocess.DEVNULL,
            stderr=full if "stderr" in streams else subprocess.PIPE,
            text=True,
            timeout=60,
        )
    return process.returncode, process.stderr or ""


@pytest.mark.parametrize("args", [("ls",), ("ls", "--json")])
def test_full_disk_error_is_one_sentence(shop: Cli, args: tuple[str, ...]) -> None:
    """Buffered output fails when it is flushed, which the interpreter does once more at exit (exit code 120)."""
    for unbuffered in ("", "1"):
        code, stderr = into_full_device(shop, *args, streams=("stdout",), unbuffered=unbuffered)
        assert code == 1
        assert stderr.count("\n") == 1
        assert "No space left on device" in stderr


def test_a_full_disk_does_not_change_the_exit_code(bare: Cli) -> None:
    both = ("stdout", "stderr")
    assert into_full_device(bare, "--help", streams=both, unbuffered="")[0] == 1
    assert into_full_device(bare, "--version", streams=("stdout",), unbuffered="")[0] == 1
    for args in (("nonsense", "--json"), ("nonsense", "--debug")):
        for streams in (("stdout",), ("stderr",), both):
            assert into_full_device(bare, *args, streams=streams, unbuffered="")[0] == 2


def test_a_terminal_folds_long_names_and_cuts_none(cli: Cli) -> None:
    cli.create("n" * 200)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(cli, "ls"))
    assert shown.count("n" * 5) >= 200 // 80
    assert len(re.findall(r"^n+", shown, re.MULTILINE)) > 1
    assert sum(map(len, re.findall(r"^n+", shown, re.MULTILINE))) == 200


def test_markup_in_stored_text_is_only_text(cli: Cli) -> None:
    cli.create("plain", description="[bold red]x[/] :bird:")
    cli.ok("pause", "plain", "--note", "[blink]now[/blink]")
    for shown in (cli.ok("show", "plain").out, on_terminal(cli, "show", "plain", NO_COLOR="1")):
        assert "[bold red]x[/] :bird:" in shown
        assert "[blink]now[/blink]" in shown


@pytest.mark.parametrize(
    "args", [("ls",), ("show", "etl"), ("why", "etl"), ("preview", "etl"), ("runs",), ("migrate",), ("skip", "etl")]
)
def test_json_output_is_ascii_in_any_locale(shop: Cli, args: tuple[str, ...]) -> None:
    process = shop.start(*args, "--json", PYTHONIOENCODING="ascii", LC_ALL="C")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert isinstance(json.loads(out), dict)


def test_text_in_a_locale_without_its_letters(shop: Cli) -> None:
    process = shop.start("why", "digest", PYTHONIOENCODING="latin-1")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "\\u2713 On the grid" in out
