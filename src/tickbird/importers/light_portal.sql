-- The schedules of light-portal.

-- name: schedules
SELECT to_jsonb(s) AS schedule FROM schedule_t AS s ORDER BY s.schedule_name, s.schedule_id;
