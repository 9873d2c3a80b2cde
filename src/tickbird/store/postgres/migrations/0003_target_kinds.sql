-- min_compatible: 1
-- Targets of every kind. The index by which claims find runs of a kind and name is in indexes.sql.

-- Name, texts of the target and tags in lower case, each between two newlines, so that a tag matches as a whole. An invalid
-- definition gives the name only.
CREATE OR REPLACE FUNCTION tickbird.schedule_search_text(name text, definition jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(
    E'\n' || name || E'\n'
    || coalesce(
        (
            SELECT string_agg(left(t.text #>> '{}', 1000) || E'\n', '' ORDER BY t.place)
            FROM jsonb_path_query(
                definition, 'strict $.target.**{1 to 2} ? (@.type() == "string")', silent => true
            ) WITH ORDINALITY AS t(text, place)
        ),
        ''
    )
    || coalesce(
        (
            SELECT string_agg(t.tag || E'\n', '' ORDER BY t.place)
            FROM jsonb_array_elements_text(
                CASE WHEN jsonb_typeof(definition -> 'tags') = 'array' THEN definition -> 'tags' ELSE '[]' END
            ) WITH ORDINALITY AS t(tag, place)
        ),
        ''
    )
);

-- The index of claims before this schema. Workers of schema 2 may still use a store that has any; a new store has none, and
-- need not pay for two.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM tickbird.workers) AND NOT EXISTS (SELECT FROM tickbird.runs) THEN
        DROP INDEX tickbird.runs_queued_idx;
    END IF;
END $$;
