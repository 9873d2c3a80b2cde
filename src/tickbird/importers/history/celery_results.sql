-- What django-celery-results keeps of each task.

-- name: results
SELECT id, task_name AS task, periodic_task_name AS periodic_task, coalesce(date_started, date_created) AS at
FROM django_celery_results_taskresult
ORDER BY id;

-- name: older_results
SELECT id, task_name AS task, NULL AS periodic_task, date_created AS at
FROM django_celery_results_taskresult
ORDER BY id;
