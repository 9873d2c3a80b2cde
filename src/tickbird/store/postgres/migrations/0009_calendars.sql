-- min_compatible: 8
-- Calendars by name: as defined, and the days that they close. Schedules hold a copy of what those they name say.

CREATE TABLE tickbird.calendars (
    namespace text NOT NULL,
    name text NOT NULL,
    definition jsonb NOT NULL,
    closed jsonb NOT NULL,
    source jsonb NOT NULL,
    revision integer NOT NULL,
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    PRIMARY KEY (namespace, name)
);

-- Only schedules that name calendars are in it.
CREATE INDEX schedules_with_calendars ON tickbird.schedules (namespace, name) WHERE definition ? 'calendars';
