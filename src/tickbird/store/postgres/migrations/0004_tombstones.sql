-- min_compatible: 1
-- Plain SQL that would bypass a tombstone is refused with the next step.

CREATE FUNCTION tickbird.refuse_schedule_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tickbird.cursors AS c WHERE c.schedule_id = OLD.id)
        OR EXISTS (SELECT FROM tickbird.revisions AS r WHERE r.schedule_id = OLD.id)
    THEN
        RAISE EXCEPTION 'a schedule leaves a tombstone, so that its ticks never run again: use `tickbird rm`'
            USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER schedules_refuse_delete BEFORE DELETE ON tickbird.schedules
    FOR EACH ROW EXECUTE FUNCTION tickbird.refuse_schedule_delete();

-- The name sorts before schedules_assign_id, so that a refused row takes no id.
CREATE FUNCTION tickbird.refuse_deleted_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM tickbird.schedules AS s JOIN tickbird.cursors AS c ON c.schedule_id = s.id
        WHERE s.namespace = NEW.namespace AND s.name = NEW.name AND c.state = 'deleted'
    ) THEN
        RAISE EXCEPTION 'schedule %: was deleted, and its row is a tombstone', quote_literal(NEW.name)
            USING ERRCODE = 'unique_violation',
                HINT = 'Create it with `tickbird apply`, the API or the Python client: it continues after its last tick.';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER schedules_a_refuse_deleted_name BEFORE INSERT ON tickbird.schedules
    FOR EACH ROW EXECUTE FUNCTION tickbird.refuse_deleted_name();
