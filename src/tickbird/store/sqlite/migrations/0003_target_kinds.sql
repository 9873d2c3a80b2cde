-- min_compatible: 1
-- Targets of every kind.

-- In the order of claims. A claim jumps from one (queue, kind and name of the target, scheduled or ad hoc, priority) to the
-- next; within each, deferred runs come last. It takes the place of runs_queued_idx, which workers of schema 2 use.
CREATE INDEX runs_queued_target_idx ON runs (
    namespace, queue, target_kind, target, schedule_id IS NULL, priority, deferred_until_minute, available_at, id
) WHERE status = 'queued';

-- Name, texts of the target and tags, each between two newlines, so that a tag matches as a whole. An invalid definition
-- gives the name only.
DROP VIEW schedule_search_rows;
CREATE VIEW schedule_search_rows AS
SELECT
    s.namespace,
    s.name,
    s.id AS schedule_id,
    s.app,
    coalesce(CAST(json_extract(s.definition, '$.queue') AS TEXT), 'default') AS queue,
    char(10) || s.name || char(10)
        || coalesce(
            (
                SELECT group_concat(substr(t.atom, 1, 1000) || char(10), '')
                FROM json_tree(s.definition, '$.target') AS t
                WHERE t.type = 'text'
                    AND (
                        t.path = '$.target'
                        OR t.path IN (SELECT k.fullkey FROM json_each(s.definition, '$.target') AS k WHERE k.type = 'object')
                    )
            ),
            ''
        )
        || coalesce(
            (
                SELECT group_concat(t.value || char(10), '')
                FROM json_each(s.definition, '$.tags') AS t
                WHERE json_type(s.definition, '$.tags') = 'array'
            ),
            ''
        ) AS search_text
FROM schedules AS s;
