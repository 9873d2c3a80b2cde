-- min_compatible: 7
-- Calendars by name: as defined, and the days that they close. Schedules hold a copy of what those they name say.

CREATE TABLE calendars (
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    closed TEXT NOT NULL,
    source TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- Only schedules that name calendars are in it.
CREATE INDEX schedules_with_calendars ON schedules (namespace, name)
    WHERE json_type(definition, '$.calendars') = 'array';
