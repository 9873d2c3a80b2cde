"""PostgreSQL URLs: read as libpq reads them, shown without any secret."""

import os
import traceback
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from tickbird.app import Tickbird
from tickbird.domain.errors import StoreError, TickbirdError
from tickbird.domain.urls import describe_url
from tickbird.importers.databases import fetch, shown
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.connection import Connections
from tickbird.store.shared.postgres_url import PostgresUrl
from tickbird.stores import open_store

MARKS = ("Zq7", "xK4")
thorough = settings(deadline=None, max_examples=200 * int(os.environ.get("TICKBIRD_FUZZ", "1")))
odd = st.text(alphabet="#?/:@&=%+[], '\"\\\t0aé☃", max_size=6)
secrets = st.builds(lambda left, middle, right: left + MARKS[0] + middle + MARKS[1] + right, odd, odd, odd)
schemes = st.sampled_from(
    ("postgresql", "postgres", "POSTGRESQL", "postgresql+psycopg", "mysql", "https", "sqlite", "")
)
escapes = st.sampled_from((str, lambda text: quote(text, safe="")))
values = st.text(alphabet="ab@/:?#&=%, '\"\\é", max_size=8)
parameters = st.dictionaries(
    st.sampled_from(("user", "password", "sslpassword", "dbname", "application_name", "options", "sslmode")),
    values.filter(bool),
)
hosts = st.lists(st.sampled_from(("one", "two.example", "::1", "10.0.0.1", "/run/pg", "fe80::1%eth0")), max_size=3)


def texts_of(url: str) -> list[str]:
    """All texts of the library about a URL."""
    texts = [shown(url), describe_url(url)]
    uses: list[Callable[[str], object]] = [open_store, PostgresStore, Tickbird.connect]
    # Only refused addresses: others would be resolved.
    uses += [partial(fetch, statement="SELECT 1")] if "…" in shown(url) else []
    for use in uses:
        try:
            made = use(url)
        except TickbirdError as error:
            texts += [*traceback.format_exception(error), repr(error), str(error.hint)]
        else:
            texts += [repr(made)]
            if isinstance(made, PostgresStore):
                texts += [made.url, made._connections.display_name, repr(made._connections)]
    return texts


@thorough
@example(secret="seZq7#xK4cret", scheme="postgresql", escape=str)
@example(secret="12/Zq7xK4", scheme="postgresql", escape=str)
@example(secret="Zq7?sslmode=xK4", scheme="postgresql", escape=str)
@example(secret="1/?sslmode=Zq7xK4", scheme="postgresql", escape=str)
@example(secret="1/?Zq7=xK4", scheme="postgresql", escape=str)
@given(secret=secrets, scheme=schemes, escape=escapes)
def test_no_text_shows_a_password(secret: str, scheme: str, escape: Callable[[str], str]) -> None:
    written = escape(secret)
    for url in (
        f"{scheme}://user:{written}@host:5433/db",
        f"{scheme}://user:{written}@host/db?schema=jobs",
        f"{scheme}://host/db?password={written}",
        f"{scheme}://host/db?p%61ssword={written}&sslmode=disable",
        f"{scheme}://user@host/db?sslpassword={written}&schema=jobs",
        f"host=host password='{written}'",
        f"host=host sslpassword='{written}'",
        f"host=host password={written}",
    ):
        for text in texts_of(url):
            assert not any(mark in text for mark in MARKS), (url, text)


@thorough
@given(secret=secrets)
def test_an_escaped_password_is_accepted_and_libpq_agrees(secret: str) -> None:
    if not secret.isprintable():
        return
    url = f"postgresql://user:{quote(secret, safe='')}@host/db"
    assert PostgresUrl.parse(url).parameters == conninfo_to_dict(url)
    assert PostgresUrl.parse(url).parameters["password"] == secret


@thorough
@given(
    parameters=parameters, hosts=hosts, port=st.sampled_from((None, "5433")), schema=st.sampled_from(("tickbird", "x"))
)
def test_a_url_that_is_written_is_read_back(
    parameters: dict[str, str], hosts: list[str], port: str | None, schema: str
) -> None:
    if hosts:
        parameters = {**parameters, "host": ",".join(hosts)}
    # libpq returns as many empty ports as hosts without ports.
    if port or len(hosts) > 1:
        parameters = {**parameters, "port": ",".join([port or ""] * max(1, len(hosts)))}
    url = PostgresUrl(parameters, schema)
    assert PostgresUrl.parse(url.secret_text) == url
    seen = PostgresUrl.parse(str(url))
    assert seen.schema == schema
    public = {"user", "host", "port", "dbname"}
    assert seen.parameters == {name: value for name, value in parameters.items() if name in public}


@pytest.mark.parametrize(
    "url, text",
    [
        ("postgresql://", "postgresql://"),
        ("postgres://ada:x@db/shop", "postgresql://ada@db/shop"),
        ("POSTGRESQL://ada@db:5433/shop?schema=jobs", "postgresql://ada@db:5433/shop?schema=jobs"),
        ("postgresql://a,b:5433/shop", "postgresql://a,b:5433/shop"),
        ("postgresql://[::1]:5433/shop?sslmode=require", "postgresql://[::1]:5433/shop"),
        ("postgresql://u@/a%20b?host=%2Frun%2Fpg&port=5433", "postgresql://u@/a%20b?host=%2Frun%2Fpg&port=5433"),
        ("postgresql://host/shop?user=ada@server&schema=a&schema=b", "postgresql://ada%40server@host/shop?schema=b"),
    ],
)
def test_the_shown_address(url: str, text: str) -> None:
    assert PostgresStore(url).url == text


def test_the_error_of_an_unescaped_password_explains_the_escape() -> None:
    with pytest.raises(StoreError, match=r"'postgresql://…' is not a PostgreSQL URL. .* / as %2F and % as %25"):
        PostgresStore("postgresql://ada:a/b@host/db")


def test_variables_of_libpq_take_precedence_over_our_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "7")
    monkeypatch.setenv("PGAPPNAME", "")
    unset = conninfo_to_dict(Connections("postgresql://host/db", 1).conninfo)
    assert "connect_timeout" not in unset
    assert unset["application_name"] == "tickbird"
    stated = conninfo_to_dict(Connections("postgresql://host/db?connect_timeout=3", 1).conninfo)
    assert stated["connect_timeout"] == "3"
    monkeypatch.delenv("PGCONNECT_TIMEOUT")
    assert conninfo_to_dict(Connections("postgresql://host/db", 1).conninfo)["connect_timeout"] == "5"
