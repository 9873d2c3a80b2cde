"""Finding an app by MODULE:BIRD."""

from __future__ import annotations

import pytest

from tests.cli.conftest import APP, Cli

COMMANDS = ["sync", "worker"]
WRONG = """\
from tickbird import Tickbird, cron
bird = Tickbird()

@bird.task(schedule=cron("61 * * * *"))
def never(): ...
"""


def refused(cli: Cli, code: int, command: str, *args: str, **env: str) -> str:
    """Worker and sync refuse an app with the same words, and before they touch a store."""
    words = cli.refused(code, command, *args, **env)
    assert list(cli.folder.glob("*.db")) == []
    return words


@pytest.mark.parametrize("command", COMMANDS)
def test_missing_app_argument_is_refused(bare: Cli, command: str) -> None:
    assert "name the app, such as `myapp:bird`, or set TICKBIRD_APP" in refused(bare, 2, command)
    assert "give the app only once" in refused(bare, 2, command, "a:b", "--app", "c:d")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "app,code,words",
    [
        ("nowhere", 3, "there is no module 'nowhere'. Run the command in its folder"),
        ("nowhere.deep:bird", 3, "there is no module 'nowhere'"),
        ("tickbird.nowhere:bird", 3, "there is no module 'tickbird.nowhere'"),
        ("shop.py", 2, "Name the module, not its file: `myapp:bird`"),
        ("./shop:bird", 2, "Name the module, not its file"),
        (":bird", 2, "Write it like `myapp:bird`"),
        ("a b:c", 2, "Write it like"),
        ("shop:bird:x", 2, "Write it like"),
        ("a\0b", 2, "Write it like"),
        ("🐦", 2, "Write it like"),
        ("shop:digest", 3, "shop:digest is a Task, not a Tickbird instance. Tickbird instances of the module: bird."),
        ("shop:nothing", 3, "the module 'shop' has no 'nothing'. Tickbird instances of the module: bird."),
        ("shop:bird.deep.er", 3, "the module 'shop' has no 'bird.deep.er'"),
        ("empty", 3, "the module 'empty' has no Tickbird instance"),
        ("two", 2, "the module 'two' has several Tickbird instances. Name one: two:a, two:b."),
        ("broken", 1, "the module 'broken' cannot be imported, broken.py line 2 (ZeroDivisionError: division by zero)"),
        ("syntax", 1, "the module 'syntax' cannot be imported, syntax.py line 1 (SyntaxError"),
        ("needs", 1, "cannot be imported, needs.py line 1 (ModuleNotFoundError: No module named 'not_installed')"),
        ("leaves", 1, "the module 'leaves' cannot be imported, leaves.py line 2 (SystemExit: 3)"),
        ("wrong", 2, "wrong, wrong.py line 4: cron '61 * * * *': minute"),
    ],
)
def test_unknown_app_is_refused(bare: Cli, command: str, app: str, code: int, words: str) -> None:
    bare.write("shop", APP)
    bare.write("empty", "x = 1")
    bare.write("two", "from tickbird import Tickbird\na, b = Tickbird(), Tickbird()")
    bare.write("broken", "x = 1\n1 / 0")
    bare.write("syntax", "def")
    bare.write("needs", "import not_installed")
    bare.write("leaves", "import sys\nsys.exit(3)")
    bare.write("wrong", WRONG)
    assert words in refused(bare, code, command, app)


def test_the_ways_to_name_an_app(cli: Cli) -> None:
    cli.write("shop", f"{APP}\n    same = bird\n    class box:\n        inner = bird\n")
    assert "created" in cli.ok("sync", "shop").out
    for args, env in (
        (("shop:bird",), {}),
        (("shop:",), {}),
        (("shop:box.inner",), {}),
        (("--app", "shop:same"), {}),
        ((), {"TICKBIRD_APP": "shop"}),
        (("shop",), {"TICKBIRD_APP": "nowhere"}),
    ):
        assert "Nothing to change" in cli.ok("sync", *args, **env).out


def test_the_traceback_of_a_broken_module_with_debug(bare: Cli) -> None:
    bare.write("broken", "x = 1\n1 / 0")
    process = bare.start("sync", "broken", "--debug")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert out == ""
    assert "ZeroDivisionError: division by zero\n" in err
    assert err.splitlines()[-1].startswith("tickbird: the module 'broken' cannot be imported")
