-- The table of APScheduler's SQLAlchemyJobStore, under its usual name.

-- name: stored_jobs
SELECT id, next_run_time, job_state FROM apscheduler_jobs ORDER BY id;
