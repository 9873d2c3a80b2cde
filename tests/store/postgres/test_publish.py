"""The SQL function publish checks an event as the client does."""

from __future__ import annotations

import re

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tickbird.domain.errors import InvalidError
from tickbird.domain.events.event import RESERVED_HEADERS, check_headers

HEADERS = "SELECT tickbird.publish('orders', 'Paid', headers => %s)"


def test_reserved_headers_are_those_of_the_client(migrated_url: str) -> None:
    with psycopg.connect(migrated_url) as connection:
        rows = connection.execute("SELECT prosrc FROM pg_proc WHERE oid = 'tickbird.publish_as'::regproc").fetchone()
    assert rows is not None
    listed = re.search(r"reserved CONSTANT text\[\] := ARRAY\[(.*?)\]", rows[0], re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"'(\w+)'", listed[1])) == RESERVED_HEADERS


VALUES: tuple[object, ...] = (5, None, True, {}, "x" * 2_001)


@pytest.mark.parametrize(
    "headers",
    [
        *({name: "a"} for name in ("id", "data", "transactioncount", "Trace", "a-b", "", "x" * 41)),
        *({"a": value} for value in VALUES),
        {f"h{number}": "a" for number in range(51)},
        [],
        "a",
        None,
    ],
)
def test_headers_that_the_client_refuses_are_refused(migrated_url: str, headers: object) -> None:
    with pytest.raises(InvalidError):
        check_headers(headers)
    with psycopg.connect(migrated_url) as connection, pytest.raises(psycopg.Error, match="headers") as refused:
        connection.execute(HEADERS, (Jsonb(headers),))
    assert refused.value.sqlstate == "TB422"


@pytest.mark.parametrize("source", ["", "x" * 501])
def test_a_source_that_the_client_refuses_is_refused(migrated_url: str, source: str) -> None:
    statement = "SELECT tickbird.publish('orders', 'Paid', source => %s)"
    with psycopg.connect(migrated_url) as connection, pytest.raises(psycopg.Error, match="source must") as refused:
        connection.execute(statement, (source,))
    assert refused.value.sqlstate == "TB422"


def test_data_and_headers_are_built_with_the_functions_of_jsonb(migrated_url: str) -> None:
    with psycopg.connect(migrated_url) as connection:
        connection.execute(
            "SELECT tickbird.publish("
            "'orders', 'Paid', jsonb_build_object('n', 1), headers => jsonb_build_object('a', 'b'))"
        )
        connection.execute("SELECT tickbird.publish('orders', 'Paid', 'null', headers => NULL)")
        connection.execute("SELECT tickbird.publish('orders', 'Paid')")
        rows = connection.execute("SELECT data, headers FROM tickbird.events ORDER BY id").fetchall()
    assert rows == [({"n": 1}, {"a": "b"}), (None, None), ({}, None)]
