-- min_compatible: 15
-- Looking for schedules by a part of a name, tag or target, without reading every definition: one narrow row each, kept
-- by triggers, so that plain SQL and older code keep it too. Older rows are written here; schedules are not locked for it.

-- Name, target and tags in small letters, each between two line ends. What is no proper definition has its name alone.
CREATE FUNCTION tickbird.schedule_words(name text, definition jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(
    E'\n' || name || E'\n'
    || coalesce(
        coalesce(definition -> 'target' ->> 'task', definition -> 'target' -> 'command' ->> 'program') || E'\n', ''
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

CREATE TABLE tickbird.listed (
    namespace text NOT NULL,
    name text NOT NULL,
    schedule_id bigint NOT NULL,
    app text,
    queue text NOT NULL,
    words text NOT NULL,
    PRIMARY KEY (namespace, name)
);

CREATE FUNCTION tickbird.schedule_listed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.namespace, NEW.name) IS DISTINCT FROM (OLD.namespace, OLD.name) THEN
        DELETE FROM tickbird.listed AS l WHERE l.namespace = OLD.namespace AND l.name = OLD.name;
    END IF;
    INSERT INTO tickbird.listed (namespace, name, schedule_id, app, queue, words)
    VALUES (
        NEW.namespace, NEW.name, NEW.id, NEW.app, coalesce(NEW.definition ->> 'queue', 'default'),
        tickbird.schedule_words(NEW.name, NEW.definition)
    )
    ON CONFLICT (namespace, name) DO UPDATE
    SET schedule_id = excluded.schedule_id, app = excluded.app, queue = excluded.queue, words = excluded.words;
    RETURN NULL;
END $$;
CREATE TRIGGER schedule_listed AFTER INSERT ON tickbird.schedules
    FOR EACH ROW EXECUTE FUNCTION tickbird.schedule_listed();
CREATE TRIGGER schedule_relisted AFTER UPDATE OF namespace, name, app, definition ON tickbird.schedules
    FOR EACH ROW
    WHEN (
        NEW.definition IS DISTINCT FROM OLD.definition
        OR NEW.app IS DISTINCT FROM OLD.app
        OR NEW.name <> OLD.name
        OR NEW.namespace <> OLD.namespace
    )
    EXECUTE FUNCTION tickbird.schedule_listed();

INSERT INTO tickbird.listed (namespace, name, schedule_id, app, queue, words)
SELECT namespace, name, id, app, coalesce(definition ->> 'queue', 'default'), tickbird.schedule_words(name, definition)
FROM tickbird.schedules;
