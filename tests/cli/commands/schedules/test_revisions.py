"""revisions and roll-back."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_revisions_shows_changed_fields(shop: Cli) -> None:
    shop.ok("set", "digest", "retries=5", "tags=mail,eu")
    shop.ok("pause", "digest", "--note", "upgrade")
    lines = shop.ok("revisions", "digest").out.splitlines()
    assert lines[0].split() == ["REVISION", "ACTION", "BY", "WHEN", "FIELD", "BEFORE", "AFTER"]
    assert lines[1].split()[:3] == ["r3", "pause", "ana"]
    assert lines[1].endswith("upgrade")
    assert lines[2].split()[:3] == ["r2", "update", "ana"]
    assert lines[2].split()[-3:] == ["retries", "3", "5"]
    assert lines[3].split()[0] == "tags"
    assert lines[4].split()[:4] == ["r1", "create", "sync", "(code)"]
    document = shop.ok("revisions", "digest", "-c", "2", "--json").json
    assert [each["revision"] for each in document["revisions"]] == [3, 2]
    assert document["revisions"][1]["changes"][0]["field"] == "retries"


def test_going_back_to_a_revision(cli: Cli) -> None:
    cli.create("digest", payload={"limit": 5})
    cli.ok("set", "digest", 'payload={"limit": 7}', "retries=2")
    out = cli.ok("roll-back", "digest", "--to", "1", "--note", "wrong").out.splitlines()
    assert out[0] == "digest: revision 1 is restored as revision 3."
    assert [line.split() for line in out[1:]] == [
        ["FIELD", "BEFORE", "AFTER"],
        ["payload.limit", "7", "5"],
        ["retries", "2", "(default)"],
    ]
    document = cli.ok("roll-back", "digest", "--to", "2", "--if-revision", "3", "--json").json
    assert document["schedule"]["revision"] == 4
    assert [each["field"] for each in document["changes"]] == ["payload.limit", "retries"]


def test_roll_back_to_invalid_revision_is_refused(cli: Cli) -> None:
    cli.create("digest")
    assert cli.refused(4, "roll-back", "digest", "--to", "1").startswith("schedule 'digest' already has the definition")
    assert "has no revision 9" in cli.refused(3, "roll-back", "digest", "--to", "9")
    assert "Did you mean digest?" in cli.refused(3, "roll-back", "digests", "--to", "1")
    assert "it has changed" in cli.refused(4, "roll-back", "digest", "--to", "1", "--if-revision", "7")
    cli.refused(2, "roll-back", "digest")
    cli.refused(2, "roll-back", "digest", "--to", "0")
    cli.refused(3, "revisions", "nothing")


def test_roll_back_of_code_schedule_shows_overrides(shop: Cli) -> None:
    shop.ok("set", "digest", "retries=5")
    shop.ok("set", "digest", "--unset", "retries")
    said = shop("roll-back", "digest", "--to", "2")
    assert said.code == 0
    assert "these fields override app shop, even after deploys, until they are unset: retries" in said.err
    assert shop.ok("show", "digest", "--json").json["field_overrides"] == {"retries": 5}
