-- min_compatible: 15
-- When another system says that it really ran what a schedule is to do.

CREATE TABLE tickbird.pings (
    schedule_id bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (schedule_id, at)
);
CREATE INDEX pings_by_age ON tickbird.pings (at);
