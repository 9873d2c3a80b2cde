"""A list of CronJobs moves over; the rule of Kubernetes is that of robfig/cron, written down here once more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.importers.conftest import AFTER, UNTIL, check, made_of
from tickbird.domain.errors import InvalidError
from tickbird.domain.targets.command import CommandSpec
from tickbird.importers.kubernetes import read_cronjobs

JOBS = """
apiVersion: v1
kind: List
items:
- apiVersion: batch/v1
  kind: CronJob
  metadata: {name: gap, namespace: shop}
  spec:
    schedule: "30 2 * * *"
    timeZone: America/New_York
    concurrencyPolicy: Forbid
    startingDeadlineSeconds: 200
    jobTemplate:
      spec:
        backoffLimit: 2
        activeDeadlineSeconds: 600
        template:
          spec:
            containers:
            - name: main
              image: shop/backup:3
              command: ["/usr/local/bin/backup", "--full"]
              workingDir: /srv
              env:
              - {name: LEVEL, value: "3"}
              - {name: PASSWORD, valueFrom: {secretKeyRef: {name: backup, key: password}}}
- {kind: CronJob, metadata: {name: twice}, spec: {schedule: "30 1 * * *", timeZone: America/New_York, jobTemplate: JOB}}
- {kind: CronJob, metadata: {name: often}, spec: {schedule: "*/20 * * * 0", timeZone: Europe/Berlin, jobTemplate: JOB}}
- kind: CronJob
  metadata: {name: either}
  spec: {schedule: "0 4 */9 * MON", timeZone: Europe/Berlin, jobTemplate: JOB}
- kind: CronJob
  metadata: {name: steps}
  spec: {schedule: "5 1/6 ? JAN-JUN *", timeZone: Australia/Lord_Howe, jobTemplate: JOB}
- {kind: CronJob, metadata: {name: daily}, spec: {schedule: "@daily", timeZone: America/Sao_Paulo, jobTemplate: JOB}}
- {kind: CronJob, metadata: {name: every}, spec: {schedule: "@every 1h30m", jobTemplate: JOB}}
- {kind: CronJob, metadata: {name: asleep}, spec: {schedule: "0 0 * * *", suspend: true, jobTemplate: JOB}}
- {kind: CronJob, metadata: {name: image-only}, spec: {schedule: "0 0 * * *", jobTemplate: BARE}}
- {kind: CronJob, metadata: {name: sunday}, spec: {schedule: "0 0 * * 7", jobTemplate: JOB}}
- {kind: Deployment, metadata: {name: shop}}
"""
JOB = '{spec: {template: {spec: {containers: [{image: shop, command: [python, -m, "shop work"]}]}}}}'
BARE = "{spec: {template: {spec: {containers: [{image: shop}]}}}}"
TEXT = JOBS.replace("jobTemplate: JOB", f"jobTemplate: {JOB}").replace("BARE", BARE)
FIELDS = {
    "shop.gap": ("30 2 * * *", "America/New_York"),
    "twice": ("30 1 * * *", "America/New_York"),
    "often": ("*/20 * * * 0", "Europe/Berlin"),
    "either": ("0 4 */9 * 1", "Europe/Berlin"),
    "steps": ("5 1/6 * 1-6 *", "Australia/Lord_Howe"),
    "daily": ("0 0 * * *", "America/Sao_Paulo"),
}


def spec(expression: str) -> Any:
    """Bits and stars, as the Go library parses them."""
    parsed = []
    for text, (low, high) in zip(expression.split(), ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6)), strict=True):
        bits: set[int] = set()
        star = False
        for part in text.split(","):
            span, _, step = part.partition("/")
            if span == "*":
                start, end, is_star = low, high, True
            else:
                first, _, last = span.partition("-")
                start, is_star = int(first), False
                end = int(last) if last else (high if step else start)
            if step and int(step) > 1:
                is_star = False
            bits |= set(range(start, end + 1, int(step or 1)))
            star = star or is_star
        parsed.append((bits, star))
    return parsed


def fires(expression: str, tz: str) -> Iterator[int]:
    """Next, Next, Next: real minutes whose wall clock matches."""
    (minutes, _), (hours, _), (days, any_day), (months, _), (weekdays, any_weekday) = spec(expression)
    at, zone = datetime.fromtimestamp(AFTER + 1, UTC), ZoneInfo(tz)
    while at.timestamp() <= UNTIL:
        wall = at.astimezone(zone)
        day, weekday = wall.day in days, wall.isoweekday() % 7 in weekdays
        matches = (day and weekday) if any_day or any_weekday else (day or weekday)
        if wall.month in months and matches and wall.hour in hours and wall.minute in minutes:
            yield int(at.timestamp())
        # All that is looked for lies on five minutes, also where zones are half an hour apart.
        at += timedelta(minutes=5)


def test_a_list_ticks_on_the_same_instants() -> None:
    made = made_of(read_cronjobs(TEXT, "cronjobs.yaml"))
    check(made, {name: list(fires(*each)) for name, each in FIELDS.items()})
    named = {name: [each.description("Kubernetes") for each in days] for name, days in made.differences.items()}
    assert named["shop.gap"][0] == "2027-03-14: Kubernetes does not, Tickbird at 03:00 EDT"
    assert named["twice"][0] == "2027-11-07: Kubernetes at 01:30 EST, Tickbird does not"
    assert {*named} == {"shop.gap", "twice"}


def test_policies_and_programs_come_along() -> None:
    made = made_of(read_cronjobs(TEXT, "cronjobs.yaml"))
    gap = made.document.schedules["shop.gap"]
    assert (gap.overlap, gap.start_within, gap.retries, gap.timeout, gap.catch_up) == ("skip", 200, 2, 600, "latest")
    assert gap.target.spec is not None
    assert gap.target.spec.to_json() == {
        "program": "/usr/local/bin/backup",
        "args": ["--full"],
        "folder": "/srv",
        "env": {"LEVEL": "3", "PASSWORD": {"env": "PASSWORD"}},
    }
    twice = made.document.schedules["twice"]
    assert (twice.overlap, twice.retries) == ("allow", 6)
    assert isinstance(twice.target.spec, CommandSpec)
    assert twice.target.spec.shell == "exec python -m 'shop work'"
    assert made.document.schedules["every"].trigger.to_json()["every"] == {"seconds": 5_400}
    notes = " ".join(next(each.notes for each in made.imported.entries if each.name == "shop.gap"))
    assert "It ran in shop/backup:3." in notes
    assert "PASSWORD came from secretKeyRef backup" in notes


def test_cronjobs_that_do_not_run_become_comments() -> None:
    made = made_of(read_cronjobs(TEXT, "cronjobs.yaml"))
    assert {each.name: each.off for each in made.off} == {
        "asleep": "it is suspended",
        "image-only": "its program is only defined in the image; add the program",
    }
    told = "\n".join(map(str, made.not_imported))
    assert "weekday: '7' is not from 0 to 6" in told
    assert "Deployment shop: it is not a CronJob" in told


def test_multiple_documents_and_json_are_read() -> None:
    one = "kind: CronJob\nmetadata: {name: a}\nspec: {schedule: '0 0 * * *', jobTemplate: " + JOB + "}\n"
    made = made_of(read_cronjobs(f"# first\n---\n{one}---\n{one.replace('name: a', 'name: b')}", "two.yaml"))
    assert list(made.document.schedules) == ["a", "b"]
    assert not made_of(read_cronjobs('{"items": []}', "none.json")).document.schedules
    for text in ("{", "a: [", "a: *b"):
        with pytest.raises(InvalidError):
            read_cronjobs(text, "broken")


@pytest.mark.parametrize("odd", [5, "x", {"a": 1}, [5], [[]], None])
def test_unexpected_types_never_crash(odd: Any) -> None:
    def job(**container: Any) -> dict[str, Any]:
        pod = {"containers": [{"image": "i", "command": ["/bin/true"], **container}]}
        return {"spec": {"template": {"spec": pod}}}

    whole: list[dict[str, Any]] = [
        {"jobTemplate": job(**{part: odd})} for part in ("command", "args", "env", "envFrom")
    ]
    whole += [{"jobTemplate": job(env=[{"name": "A", "valueFrom": odd}])}, {"jobTemplate": odd}, {"schedule": odd}]
    whole += [{"jobTemplate": job(), part: odd} for part in ("concurrencyPolicy", "timeZone", "suspend")]
    specs = [{"schedule": "0 4 * * *", **each} for each in whole]
    documents = [{"kind": "CronJob", "metadata": {"name": f"j{n}"}, "spec": each} for n, each in enumerate(specs)]
    made = made_of(read_cronjobs(json.dumps([*documents, {"kind": "CronJob", "metadata": odd, "spec": odd}]), "odd"))
    assert len(made.imported.entries) + len(made.imported.not_imported) == len(documents) + 1


ODD = """
kind: CronJob
metadata: {name: zone}
spec: {schedule: "CRON_TZ=Asia/Tokyo  0 4 * * *", jobTemplate: %s}
--- # with a remark
kind: CronJob
metadata: {name: filled}
spec:
  schedule: "0 4 * * *"
  suspend: no
  jobTemplate: {spec: {template: {spec: {containers: [{image: i, command: [/bin/echo, $(A), $(KEY), $(GONE), $$(A)],
    env: [{name: A, value: x}, {name: B, value: $(A)y}, {name: KEY, valueFrom: {secretKeyRef: {name: s}}},
          {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
          {name: NOT-HERE, value: z}]}]}}}}
---
kind: CronJob
metadata: {name: asleep}
spec: {schedule: "0 4 * * *", suspend: yes, jobTemplate: {spec: {template: {spec: {containers: [{args: [a]}]}}}}}
---
kind: CronJob
metadata: {name: both}
spec: {schedule: "TZ=Asia/Tokyo 0 4 * * *", timeZone: UTC, jobTemplate: %s}
---
kind: CronJob
metadata: {name: nowhere}
spec: {schedule: "0 4 * * *", timeZone: No/Where, jobTemplate: %s}
---
{kind: CronJob, metadata: {name: empty}}
---
just words
"""


def test_zones_variables_and_documents_as_kubernetes_has_them() -> None:
    made = made_of(read_cronjobs(ODD % (JOB, JOB, JOB), "odd.yaml"))
    found = made.document.schedules
    assert list(found) == ["zone", "filled"]
    assert found["zone"].trigger.to_json() == {"cron": "0 4 * * *", "tz": "Asia/Tokyo"}
    program = found["filled"].target.spec
    assert isinstance(program, CommandSpec)
    assert program.argv == ("/bin/echo", "x", "$(KEY)", "$(GONE)", "$(A)")
    assert program.to_json()["env"] == {"A": "x", "B": "xy", "KEY": {"env": "KEY"}, "POD": {"env": "POD"}}
    [notes] = [" ".join(each.notes) for each in made.imported.entries if each.name == "filled"]
    assert "NOT-HERE is not imported" in notes
    assert "POD came from fieldRef metadata.name" in notes
    assert "$(KEY) was set by Kubernetes" in notes
    assert [each.off.partition(",")[0] for each in made.off] == ["it is suspended"]
    told = "\n".join(map(str, made.not_imported))
    for words in (
        "CronJob both: TZ=Asia/Tokyo 0 4 * * *: it has a time zone in its schedule and in timeZone",
        "there is no time zone 'No/Where'",
        "CronJob empty: it has no schedule",
        "'just words': it is not a CronJob",
    ):
        assert words in told
    with pytest.raises(InvalidError, match="in line 2, column 4: aliases are not supported"):
        read_cronjobs("a: 1\nb: *c", "broken")
