"""`tickbird import`: files, standard input and databases in; a file that `tickbird apply` takes out."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

CRONTAB = "MAILTO=ops\n0 3 * * * /usr/local/bin/backup --full\n@reboot /bin/start\n"


class Bomb:
    """Executes when it is opened, as every pickle can."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (exec, (f"import os; open({str(self.path)!r}, 'w').write(str(os.getpid()))",))


def jobs(folder: Path) -> str:
    """A job store with a pickle that does something."""
    with closing(sqlite3.connect(folder / "jobs.db")) as file, file:
        file.execute("CREATE TABLE apscheduler_jobs (id TEXT PRIMARY KEY, next_run_time REAL, job_state BLOB)")
        file.execute("INSERT INTO apscheduler_jobs VALUES ('a', 1.0, ?)", (pickle.dumps(Bomb(folder / "executed")),))
    return f"sqlite:///{folder}/jobs.db"


def test_a_crontab_becomes_a_file_that_is_applied(cli: Cli) -> None:
    said = cli("import", "crontab", "-", "--tz", "Europe/Rome", "-o", "moved.toml", "--into", "ops", stdin=CRONTAB)
    assert (said.code, said.out) == (0, "")
    assert "1 schedule imported from -." in said.err
    assert "2 items not imported: line 1: MAILTO=ops" in said.err
    assert "# line 2: 0 3 * * * /usr/local/bin/backup --full" in (cli.folder / "moved.toml").read_text()
    assert "tickbird worker --allow-command /usr/local/bin/backup" in (cli.folder / "moved.toml").read_text()
    applied = cli("apply", "-f", "moved.toml", "--json")
    assert applied.code == 0, applied.err
    shown = cli.ok("show", "backup", "--json").json
    assert shown["definition"]["target"] == {"command": {"program": "/usr/local/bin/backup", "args": ["--full"]}}
    assert (shown["zone"], shown["app"]) == ("Europe/Rome", "ops")


def test_it_is_printed_in_every_spelling(bare: Cli) -> None:
    (bare.folder / "crontab").write_text(CRONTAB)
    assert "[schedules.backup]" in bare("import", "crontab", "crontab").out
    assert "schedules:\n" in bare("import", "crontab", "crontab", "--format", "yaml").out
    said = bare("import", "crontab", "crontab", "--json").json
    assert said["document"]["schedules"]["backup"]["command"]["program"] == "/usr/local/bin/backup"
    assert [each["line"] for each in said["left_out"]] == [1, 3]
    # A file of JSON has no remarks, so that all of them are told beside it.
    (bare.folder / "more").write_text(f"{CRONTAB}5/20 * * * * /bin/step\n")
    beside = bare("import", "crontab", "more", "--format", "json").err
    assert "  not imported: line 3: @reboot /bin/start: it runs when the machine starts" in beside
    assert "  step: A step after a single number extends to the end of the field" in beside
    bare("import", "crontab", "crontab", "-o", "moved.yml")
    assert (bare.folder / "moved.yml").read_text().startswith("# Imported from crontab (cron).")


def test_settings_and_cronjobs_name_the_days_of_clock_changes(bare: Cli) -> None:
    (bare.folder / "settings.py").write_text(
        'timezone = "America/New_York"\n'
        'beat_schedule = {"gap": {"task": "t", "schedule": crontab(hour=2, minute=30)}}\n'
    )
    said = bare("import", "celery-beat", "settings.py")
    assert "Celery handles DST changes differently." in said.out
    assert "DST changes: 1 schedule (gap) with different instants on " in said.err
    job = {"spec": {"template": {"spec": {"containers": [{"image": "i", "command": ["/bin/true"]}]}}}}
    spec = {"schedule": "30 2 * * *", "timeZone": "America/New_York", "jobTemplate": job}
    document = {"kind": "CronJob", "metadata": {"name": "gap"}, "spec": spec}
    (bare.folder / "jobs.json").write_text(json.dumps(document))
    found = bare("import", "kubernetes", "jobs.json", "--json").json
    assert {each["schedule"] for each in found["differences"]} == {"gap"}
    assert all(not each["theirs"] and each["ours"] for each in found["differences"])


def test_pickles_are_not_opened_unless_they_are_trusted(bare: Cli) -> None:
    url = jobs(bare.folder)
    words = bare.refused(2, "import", "apscheduler", url)
    assert "unpickling can execute arbitrary code" in words
    assert "--trust-pickle" in words
    assert not (bare.folder / "executed").exists()
    said = bare("import", "apscheduler", url, "--trust-pickle", "--python", sys.executable)
    assert said.code == 0
    # In a process of its own.
    assert (bare.folder / "executed").read_text() not in ("", str(os.getpid()))
    assert "Unpickling executes any code" in " ".join(bare.ok("import", "apscheduler", "--help").out.split())


@pytest.mark.parametrize(
    "args, words",
    [
        (("crontab", "nowhere"), "nowhere cannot be read: No such file"),
        (("kubernetes", "broken"), "the file is not valid YAML"),
        (("celery-beat", "broken"), "is not a Python file"),
        (("django-celery-beat", "mysql://u:secret@h/d"), "is not a supported database URL"),
        (("crontab", "broken", "--into", "a b"), "app: 'a b' is not a valid name"),
        (("crontab", "broken", "-o", "no/such/folder"), "cannot be written"),
    ],
)
def test_import_unreadable_input_is_refused(bare: Cli, args: tuple[str, ...], words: str) -> None:
    (bare.folder / "broken").write_text("a: [\n")
    assert words in bare.refused(2, "import", *args)


def test_import_as_shadows_runs_nothing(cli: Cli) -> None:
    assert cli("import", "crontab", "-", "--shadow", "-o", "moved.toml", stdin=CRONTAB).code == 0
    text = (cli.folder / "moved.toml").read_text()
    assert "shadow = true" in text
    assert "`tickbird shadow report`" in text
    assert "a shadow: ticks are recorded, nothing runs" in cli("diff", "-f", "moved.toml").out
    cli.ok("apply", "-f", "moved.toml")
    assert "active shadow" in cli.ok("ls").out
    refused = cli("trigger", "backup")
    assert (refused.code, "tickbird set backup shadow=false" in refused.err) == (4, True)
    assert {tick["skipped"] for tick in cli.ok("preview", "backup", "--json").json["ticks"]} == {"shadow"}
    (cli.folder / "moved.toml").write_text(text.replace("shadow = true\n", ""))
    said = cli("diff", "-f", "moved.toml")
    assert "switched to real runs: from its tick of " in said.out
    cli.ok("set", "backup", "shadow=false")
    assert "shadow" not in cli.ok("ls").out
    assert cli("trigger", "backup").code == 0
    wrong = cli("set", "backup", "shadow=perhaps")
    assert (wrong.code, "neither true nor false" in wrong.err) == (2, True)


def test_imported_crontab_runs_in_a_worker(folder: Path, migrated_file: Path) -> None:
    shutil.copy(migrated_file, folder / "birds.db")
    cli = Cli(f"sqlite:///{folder}/birds.db", folder)
    # A line of its own form each: words, standard input behind %, and a shell with a variable and a %.
    lines = (
        "NAME=crow",
        "0 3 * * * /bin/echo caw caw",
        "@daily /bin/cat%first%second",
        "30 4 1 * 5 echo \"$NAME says $(printf '\\%s' caw)\" && pwd",
    )
    made = cli("import", "crontab", "-", "--personal", "-o", "moved.toml", stdin="\n".join((*lines, "")))
    assert made.code == 0, made.err
    assert cli("apply", "-f", "moved.toml").code == 0
    allowed = [part for path in ("/bin/echo", "/bin/cat", "/bin/sh") for part in ("--allow-command", path)]
    assert "and these variables: --allow-env NAME\n" in (cli.folder / "moved.toml").read_text()
    worker = cli.start("worker", *allowed, "--allow-env", "NAME")
    try:
        told = {}
        for name in ("echo", "cat", "echo-2"):
            said = cli("trigger", name, "--wait", "60", "--json")
            assert said.code == 0, said
            told[name] = [line["text"] for line in said.json["lines"]]
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    assert told["echo"] == ["caw caw"]
    assert told["cat"] == ["first", "second"]
    assert told["echo-2"][0] == "crow says caw"
    assert Path(told["echo-2"][1]) == Path.home()
