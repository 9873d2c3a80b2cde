"""Databases that cannot be opened."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

from lab.servers import PostgresServer
from tests.store.postgres.database import Database, create_role, opened
from tests.store.postgres.steps import until
from tickbird.domain.errors import SchemaError, StoreError, StoreUnavailableError
from tickbird.store.postgres import PostgresStore


class TestErrors:
    """Clear messages with the next step, without text of the driver."""

    @staticmethod
    async def _refusal(url: str, kind: type[StoreError]) -> str:
        with pytest.raises(kind) as refused:
            async with opened(url):
                pass
        assert type(refused.value) is kind
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__ or refused.value.__context__ is None
        assert refused.value.hint
        text = str(refused.value)
        assert "\n" not in text
        return text

    @pytest.mark.parametrize(
        "url", ["postgresql//host/x", "mysql://host/x", "postgresql://host:port/x", "postgresql://host/x?port=red"]
    )
    def test_a_bad_url(self, url: str) -> None:
        with pytest.raises(StoreError, match=r"is not a PostgreSQL URL\. Use the form") as refused:
            PostgresStore(url)
        assert refused.value.__suppress_context__

    @pytest.mark.parametrize("query", ["colour=red", "sslmode=disable&colour=", "colour=red&password=hush"])
    def test_an_unknown_option(self, query: str) -> None:
        with pytest.raises(StoreError, match=r"has an unknown option 'colour'. Remove it") as refused:
            PostgresStore(f"postgresql://host/x?{query}")
        assert "hush" not in str(refused.value)

    def test_known_options_are_accepted(self) -> None:
        PostgresStore("postgresql://host/x?sslmode=disable&application_name=me&ssl=true&options=-c%20jit%3Don")

    async def test_without_a_server_the_error_says_so(self, postgres_server: PostgresServer) -> None:
        url = "postgresql://postgres@127.0.0.1:1/x"
        text = await self._refusal(url, StoreUnavailableError)
        assert text.startswith("database 'x' at 127.0.0.1:1 cannot be reached")
        assert "?." not in text

    async def test_a_missing_database(self, postgres_server: PostgresServer) -> None:
        text = await self._refusal(postgres_server.url_of("nowhere"), StoreError)
        assert "database 'nowhere'" in text
        assert text.endswith("Create the database, then run `tickbird migrate`.")

    async def test_a_missing_role(self, migrated: str) -> None:
        text = await self._refusal(migrated.replace("postgres@", "who@"), StoreError)
        assert text.endswith("Create the role, or check the user in the URL.")

    async def test_a_wrong_password(self, own_server: PostgresServer) -> None:
        url = own_server.create_database()
        database = Database(url)
        await database.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        hba = await database.one("SHOW hba_file")
        rules = "host all locked all scram-sha-256|host all all all trust"
        copy = sql.SQL("COPY (SELECT regexp_split_to_table({}, '[|]')) TO {}").format(rules, hba)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute(copy)
            await connection.execute("SELECT pg_reload_conf()")
        wrong = url.replace("postgres@", "locked:wrong@")

        async def refused() -> str | None:
            try:
                async with await psycopg.AsyncConnection.connect(wrong):
                    return None
            except psycopg.OperationalError as error:
                return str(error)

        await until(refused)
        text = await self._refusal(wrong, StoreError)
        assert text.endswith("Check the user and the password in the URL.")
        assert "wrong" not in text
        assert PostgresStore(wrong).url == url.replace("postgres@", "locked@")

    async def test_no_rights(self, database: Database) -> None:
        role = await create_role(database, "powerless")
        text = await self._refusal(database.url.replace("postgres@", f"{role}@"), StoreError)
        assert "permission denied for schema tickbird" in text
        assert "Grant it" in text

    async def test_no_schema(self, postgres_url: str) -> None:
        text = await self._refusal(postgres_url, SchemaError)
        assert text == "the database has no Tickbird schema. Run `tickbird migrate`."

    async def test_a_missing_table(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        await Database(postgres_url).execute("DROP TABLE tickbird.cursors CASCADE")
        async with opened(postgres_url) as store:
            with pytest.raises(SchemaError, match=r"incomplete: .*does not exist. Run `tickbird migrate --repair`\.$"):
                await store.schedules.get("default", "digest")

    async def test_a_schema_too_old(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        await Database(postgres_url).execute("UPDATE tickbird.meta SET value = '0' WHERE key = 'version'")
        assert (await self._refusal(postgres_url, SchemaError)).endswith("Run `tickbird migrate`.")
        assert await PostgresStore(postgres_url).migrate() == ["meta"]
        assert await PostgresStore(postgres_url).migrate() == []
        async with opened(postgres_url):
            pass

    @pytest.mark.parametrize("key", ["version", "min_compatible"])
    async def test_a_version_that_is_not_a_number(self, postgres_url: str, key: str) -> None:
        await PostgresStore(postgres_url).migrate()
        await Database(postgres_url).execute(f"UPDATE tickbird.meta SET value = 'soon' WHERE key = '{key}'")
        text = await self._refusal(postgres_url, SchemaError)
        assert text.startswith(f"the database's table meta has 'soon' as {key}, which is not a number.")
        await PostgresStore(postgres_url).migrate()
        async with opened(postgres_url):
            pass

    async def test_no_right_to_migrate(self, postgres_url: str) -> None:
        role = await create_role(Database(postgres_url), "reader")
        with pytest.raises(StoreError, match=f"the role '{role}' lacks a permission .* Grant it CREATE on the"):
            await PostgresStore(postgres_url.replace("postgres@", f"{role}@")).migrate()

    async def test_a_schema_too_new(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        await Database(postgres_url).execute("UPDATE tickbird.meta SET value = '99'")
        assert (await self._refusal(postgres_url, SchemaError)).endswith("Upgrade tickbird.")

    async def test_not_open(self, migrated: str) -> None:
        with pytest.raises(StoreError, match="is not open"):
            await PostgresStore(migrated).now()
