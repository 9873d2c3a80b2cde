"""Rows that the database refuses stop no others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.servers import PostgresServer
from tests.store.conftest import PlainPostgres
from tests.store.postgres.database import Database, create_role, opened
from tests.store.postgres.steps import MINUTELY, create_many, later
from tickbird.store.postgres import PostgresStore

# Of every class that has nothing to do with the values of a row, and of some that have.
SQLSTATES = (
    *("08006", "0A000", "22012", "23514", "25006", "40001", "42501", "42P01"),
    *("53100", "54000", "55P03", "57014", "57P01", "58030", "P0001", "XX000"),
)


class TestBadRows:
    async def test_a_refused_batch_is_bisected(self, store: PostgresStore, database: Database) -> None:
        await create_many(database, 100)
        await database.execute(
            """CREATE FUNCTION tickbird.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF (SELECT name IN ('s7', 's50', 's51') FROM tickbird.schedules WHERE id = NEW.schedule_id) THEN
                    RAISE EXCEPTION 'run of %% not wanted', NEW.schedule_id;
                END IF;
                RETURN NEW;
            END $$"""
        )
        await database.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON tickbird.runs FOR EACH ROW EXECUTE FUNCTION tickbird.refuse()"
        )
        try:
            planned = await store.planning.plan_due(now=later(60))
        finally:
            await database.execute("DROP FUNCTION tickbird.refuse() CASCADE")
        assert sorted(refused.schedule for refused in planned.refused) == ["s50", "s51", "s7"]
        assert (planned.schedules, planned.runs, planned.parked) == (97, 97, ())
        assert await database.one("SELECT count(*) FROM tickbird.runs") == 97
        refused = await store.schedules.get("default", "s50")
        assert refused is not None
        # Only the message, without the server's context lines.
        assert (refused.state, refused.error) == ("active", f"run of {refused.id} not wanted")
        assert (await store.planning.plan_due(now=later(60))).schedules == 0
        assert (await store.planning.plan_due(now=later(75))).runs == 3

    @pytest.mark.parametrize("sqlstate", SQLSTATES)
    async def test_a_bad_row_stops_no_other_whatever_the_error(
        self, store: PostgresStore, database: Database, sqlstate: str
    ) -> None:
        await create_many(database, 5)
        schedule = await store.schedules.get("default", "s3")
        assert schedule is not None
        plain = PlainPostgres(database.url)
        await plain.refuse_rows("runs", schedule.id, "not today", sqlstate)
        try:
            planned = await store.planning.plan_due(now=later(60))
        finally:
            await plain.accept_rows()
        assert (planned.runs, planned.parked) == (4, ())
        assert [(refused.schedule, refused.error) for refused in planned.refused] == [("s3", "not today")]
        assert (await store.planning.plan_due(now=later(75))).runs == 1

    async def test_a_row_that_cannot_even_be_parked_stops_no_other(
        self, store: PostgresStore, database: Database
    ) -> None:
        await create_many(database, 5, replace(MINUTELY, overlap="allow"))
        await database.execute(
            """CREATE FUNCTION tickbird.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'no parking';
            END $$"""
        )
        await database.execute(
            """CREATE TRIGGER refuse BEFORE UPDATE ON tickbird.cursors FOR EACH ROW
            WHEN (NEW.state = 'parked' OR NEW.refused_at IS NOT NULL) EXECUTE FUNCTION tickbird.refuse()"""
        )
        await PlainPostgres(database.url).insert("default", "broken", '{"v": 1}')
        try:
            for minute in (1, 2, 3):
                planned = await store.planning.plan_due(now=later(60 * minute))
                assert (planned.runs, planned.parked) == (5, ())
                assert [refused.error for refused in planned.refused] == ["no parking"]
        finally:
            await database.execute("DROP FUNCTION tickbird.refuse() CASCADE")
        assert (await store.planning.plan_due(now=later(240))).parked == ("broken",)

    async def test_a_batch_refused_for_want_of_rights_is_tried_again(
        self, database: Database, postgres_server: PostgresServer
    ) -> None:
        await create_many(database, 3)
        role = await create_role(database, "planless")
        await database.execute(
            f"""GRANT USAGE ON SCHEMA tickbird TO {role}; GRANT ALL ON ALL TABLES IN SCHEMA tickbird TO {role};
            GRANT ALL ON ALL SEQUENCES IN SCHEMA tickbird TO {role}; REVOKE INSERT ON tickbird.runs FROM {role}"""
        )
        async with opened(database.url.replace("postgres@", f"{role}@")) as store:
            planned = await store.planning.plan_due(now=later(60))
            assert (planned.runs, planned.parked) == (0, ())
            assert [refused.error for refused in planned.refused] == ["permission denied for table runs"] * 3
            await database.execute(f"GRANT INSERT ON tickbird.runs TO {role}")
            runs = [(await store.planning.plan_due(now=later(75))).runs for _ in range(2)]
        assert sum(runs) == 3
