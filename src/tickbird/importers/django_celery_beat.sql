-- What django-celery-beat keeps: each periodic task with the one schedule that it has.

-- name: periodic_tasks
SELECT
    p.name, p.task, p.args, p.kwargs, p.queue, p.priority, p.expires, p.expire_seconds, p.one_off, p.start_time,
    p.enabled, p.last_run_at, p.date_changed, p.description, p.exchange, p.routing_key, p.headers,
    c.minute, c.hour, c.day_of_week, c.day_of_month, c.month_of_year, c.timezone,
    i.every, i.period, k.clocked_time, s.event
FROM django_celery_beat_periodictask AS p
LEFT JOIN django_celery_beat_crontabschedule AS c ON c.id = p.crontab_id
LEFT JOIN django_celery_beat_intervalschedule AS i ON i.id = p.interval_id
LEFT JOIN django_celery_beat_clockedschedule AS k ON k.id = p.clocked_id
LEFT JOIN django_celery_beat_solarschedule AS s ON s.id = p.solar_id
ORDER BY p.name;
