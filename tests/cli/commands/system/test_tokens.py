"""token create, list and revoke."""

from __future__ import annotations

from tests.cli.conftest import Cli
from tickbird.domain.access.tokens import digest, parse_token


def make(cli: Cli, *args: str) -> dict[str, object]:
    """A token by --json."""
    made: dict[str, object] = cli.ok("token", "create", *args, "--json").json
    return made


def test_a_token_is_shown_once_and_alone_on_stdout(cli: Cli) -> None:
    said = cli("token", "create", "ci", "--role", "operator", "--expires", "90d")
    assert said.code == 0
    parsed = parse_token(said.out.rstrip("\n"))
    assert parsed is not None
    token_id, secret = parsed
    assert f"tickbird: token {token_id} (ci): operator of namespace default, until 2" in said.err
    assert "Store it now: it is not shown again." in said.err
    out = cli.ok("token", "list").out
    assert out.splitlines()[0].split()[:5] == ["ID", "NAME", "ROLE", "NAMESPACES", "STATE"]
    assert out.splitlines()[1].split()[:5] == [token_id, "ci", "operator", "default", "live"]
    for text in (out, cli.ok("token", "list", "--json").out):
        assert secret not in text
        assert digest(secret) not in text


def test_a_token_may_open_several_namespaces_or_all(cli: Cli) -> None:
    some = make(cli, "ci", "--role", "viewer", "--namespace", "shop,bank")
    every = make(cli, "root", "--role", "admin", "--all-namespaces")
    assert (some["namespaces"], every["namespaces"]) == (["bank", "shop"], None)
    assert (some["state"], some["created_by"], some["expires_at"]) == ("live", "ana", None)
    assert parse_token(str(some["token"])) is not None
    listed = {name: cli.ok("token", "list", "-n", name, "--json").json["tokens"] for name in ("shop", "else")}
    assert [each["name"] for each in listed["shop"]] == ["ci", "root"]
    assert [each["name"] for each in listed["else"]] == ["root"]


def test_token_list_shows_revoked_tokens_only_with_all(cli: Cli) -> None:
    first, second = (make(cli, "ci", "--role", "viewer")["id"] for _ in range(2))
    said = cli.refused(4, "token", "revoke", "ci")
    assert said.startswith("2 tokens are named 'ci'. Give an id: ")
    assert str(first) in said
    assert cli.ok("token", "revoke", str(first)).out == f"Token {first} (ci) is revoked.\n"
    assert cli.ok("token", "revoke", "ci", "--actor", "bo", "--json").json["revoked_by"] == "bo"
    assert cli.ok("token", "list").out.startswith("No tokens. Create one with")
    every = cli.ok("token", "list", "--all", "--json").json["tokens"]
    assert {each["id"]: each["state"] for each in every} == {first: "revoked", second: "revoked"}
    # A second time changes nothing.
    assert cli.ok("token", "revoke", str(first), "--actor", "cy", "--json").json["revoked_by"] == "ana"


def test_bad_input_is_refused(cli: Cli) -> None:
    create = ("token", "create", "ci", "--role", "viewer")
    assert "missing option '--role'" in cli.refused(2, "token", "create", "ci")
    assert "'root' is not one of" in cli.refused(2, "token", "create", "ci", "--role", "root")
    assert "is in the past" in cli.refused(2, *create, "--expires", "-1d")
    assert "is not an instant" in cli.refused(2, *create, "--expires", "soon")
    assert "cannot be combined" in cli.refused(2, *create, "--all-namespaces", "-n", "shop")
    assert "'a b' is not a valid name" in cli.refused(2, *create, "-n", "shop,a b")
    assert "name must have 1 to 100 characters" in cli.refused(2, "token", "create", "", "--role", "viewer")
    assert cli.refused(3, "token", "revoke", "ci") == (
        "there is no token 'ci'. `tickbird token list` lists the tokens."
    )
    assert cli.ok("token", "list", "--all", "--json").json == {"tokens": []}
