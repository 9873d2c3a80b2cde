"""Runs where the originals are installed: makes their stores, and tells when they would fire by their own code.

Started as a process of its own, `python origins.py KIND`, with one JSON document in and one out. Tickbird is not there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

UTC = timezone.utc  # noqa: UP017


def celery_fires(schedule: Any, after: int, until: int) -> list[int]:
    """As beat goes on: the time that is left after the last run, again and again."""
    found: list[int] = []
    last = datetime.fromtimestamp(after, UTC)
    while True:
        schedule.nowfun = lambda at=last: at
        following = last + schedule.remaining_estimate(last)
        if following.timestamp() > until:
            return found
        found.append(int(following.timestamp()))
        assert following > last
        last = following


def celery(asked: dict[str, Any]) -> Any:
    """The fires of a settings file, executed as beat would."""
    from celery import Celery

    names: dict[str, Any] = {}
    exec(compile(asked["text"], "settings", "exec"), names)
    app = Celery(set_as_current=False)
    app.conf.timezone = names.get("timezone") or names.get("CELERY_TIMEZONE")
    fires = {}
    for name, entry in (names.get("beat_schedule") or names["CELERY_BEAT_SCHEDULE"]).items():
        schedule = entry["schedule"]
        if hasattr(schedule, "remaining_delta"):
            schedule.app = app
            fires[name] = celery_fires(schedule, asked["after"], asked["until"])
    return fires


def django(asked: dict[str, Any]) -> Any:
    """A database of django-celery-beat with these tasks, and their fires."""
    import django as framework
    from django.conf import settings

    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": asked["path"]}},
        INSTALLED_APPS=["django_celery_beat"],
        USE_TZ=True,
        TIME_ZONE="UTC",
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    )
    framework.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from django_celery_beat.models import (
        ClockedSchedule,
        CrontabSchedule,
        IntervalSchedule,
        PeriodicTask,
        SolarSchedule,
    )

    kinds = {
        "crontab": CrontabSchedule,
        "interval": IntervalSchedule,
        "clocked": ClockedSchedule,
        "solar": SolarSchedule,
    }
    fires = {}
    for name, (kind, fields, more) in asked["tasks"].items():
        model = kinds[kind].objects.create(**fields)
        task = PeriodicTask.objects.create(name=name, **{kind: model, "task": "shop.tasks.work", **more})
        if kind == "crontab":
            fires[name] = celery_fires(task.schedule, asked["after"], asked["until"])
        elif kind == "interval":
            task.refresh_from_db()
            if task.interval.period == "microseconds":
                continue
            step, last = int(task.schedule.run_every.total_seconds()), int(task.last_run_at.timestamp())
            fires[name] = list(range(last + step, asked["until"] + 1, step))
            fires[name] = [at for at in fires[name] if at > asked["after"]]
    return fires


def apscheduler(asked: dict[str, Any]) -> Any:
    """A job store with these jobs, and their fires."""
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
    from apscheduler.schedulers.background import BackgroundScheduler
    from apscheduler.triggers.combining import AndTrigger, OrTrigger
    from apscheduler.triggers.cron import CronTrigger
    from apscheduler.triggers.date import DateTrigger
    from apscheduler.triggers.interval import IntervalTrigger

    kinds: dict[str, Callable[..., Any]] = {"cron": CronTrigger, "interval": IntervalTrigger, "date": DateTrigger}

    def trigger(kind: str, fields: Any) -> Any:
        if kind in ("or", "and"):
            return (OrTrigger if kind == "or" else AndTrigger)([trigger(*each) for each in fields])
        return kinds[kind](**fields)

    scheduler = BackgroundScheduler(jobstores={"default": SQLAlchemyJobStore(asked["url"])}, timezone="UTC")
    scheduler.start(paused=True)
    fires = {}
    for name, (kind, fields, more) in asked["jobs"].items():
        made = trigger(kind, fields)
        job = scheduler.add_job("builtins:dict", made, id=name, **more)
        if job.next_run_time is None or kind == "and":
            continue
        if name == "paused":
            job.pause()
        found: list[int] = []
        previous, now = None, datetime.fromtimestamp(asked["after"], UTC)
        if hasattr(made, "jitter"):
            made.jitter = None
        while (at := made.get_next_fire_time(previous, now)) is not None and at.timestamp() <= asked["until"]:
            assert not found or at.timestamp() > found[-1], f"{name} stands still at {at}"
            found.append(int(at.timestamp()))
            previous, now = at, at.astimezone(UTC) + timedelta(microseconds=1)
        fires[name] = found
    scheduler.shutdown()
    return fires


if __name__ == "__main__":
    told = {"celery": celery, "django": django, "apscheduler": apscheduler}[sys.argv[1]](json.load(sys.stdin))
    json.dump(told, sys.stdout)
