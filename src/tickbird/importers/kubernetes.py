"""Importer of Kubernetes CronJobs, from manifests or from `kubectl get cronjobs -o yaml`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.targets.command import CommandSpec
from tickbird.files.parse.nodes import Unreadable
from tickbird.files.parse.yaml import read_yaml_documents
from tickbird.importers.cron_sets import MONTHS, WEEKDAYS, CronSets, all_values, number_of
from tickbird.importers.entries import Imported, ImportedSchedule, short

_NICKNAMES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_NAMES: Final = {
    "month": {name: number for number, name in enumerate(MONTHS, 1)},
    "weekday": {name: number for number, name in enumerate(WEEKDAYS)},
}
_FIELDS: Final = ("minute", "hour", "day", "month", "weekday")
_OVERLAP: Final = {"Allow": "allow", "Forbid": "skip", "Replace": "replace"}
_ZONE: Final = re.compile(r"\s*(?:CRON_)?TZ=(\S+)\s+")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# A reference to a variable, or $$, which is an escaped $.
_REFERENCE: Final = re.compile(r"\$(\$|\(([A-Za-z0-9_.-]+)\))")
_TRUE: Final = (True, "y", "yes", "on", "true")
_DURATION: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_NOTES: Final = (
    "Each CronJob ran in a container. Here a worker starts its program: it needs the program and the secrets.",
    "Kubernetes runs the last missed tick: therefore catch_up = latest.",
)


def read_cronjobs(text: str, source: str, *, tz: str = "UTC") -> Imported:
    """Read all CronJobs of a YAML or JSON text with documents or lists; `tz` is the time zone of the cluster."""
    imported = Imported("Kubernetes", source, notes=list(_NOTES))
    imported.notes.append(f"Times are in {tz} unless timeZone is set. Use --tz for the time zone of the cluster.")
    for manifest in objects_of(text):
        if manifest.get("kind") == "CronJob":
            _cron_job(manifest, tz, imported)
        elif manifest:
            name = full_name(manifest) if at_path(manifest, "metadata", "name") else ""
            imported.leave(f"{manifest.get('kind', 'an object')} {name}".strip(), "it is not a CronJob")
    return imported


def objects_of(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield all objects of a YAML or JSON text with documents or lists."""
    for document in _documents(text):
        yield from _objects(document)


def _documents(text: str) -> Iterator[Any]:
    if text.lstrip().startswith("{"):
        try:
            yield json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidError(
                f"the file is not valid JSON: {error}.",
                hint="Import the output of `kubectl get cronjobs -o json`.",
            ) from None
        return
    try:
        yield from (node.plain for node in read_yaml_documents(text))
    except Unreadable as error:
        where = "" if error.at is None else f" in line {error.at[0]}, column {error.at[1]}"
        raise InvalidError(
            f"the file is not valid YAML{where}: {error.reason}.",
            hint="Fix it, or import the output of `kubectl get cronjobs -o json`.",
        ) from None


def _objects(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, list):
        for item in document:
            yield from _objects(item)
    elif isinstance(document, Mapping):
        if isinstance(document.get("items"), list):
            yield from _objects(document["items"])
        else:
            yield document
    elif document is not None:
        yield {"kind": short(repr(document))}


def at_path(value: Any, *path: str | int) -> Any:
    """Return the value at a path; None if there is none."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _listed(value: Any, name: str) -> list[Any]:
    """Return a list in an object; [] if there is none or the value is not a list."""
    items = at_path(value, name)
    return items if isinstance(items, list) else []


def full_name(document: Mapping[str, Any]) -> str:
    """Return `namespace.name`, or only the name in the default namespace."""
    name, namespace = at_path(document, "metadata", "name"), at_path(document, "metadata", "namespace")
    return f"{namespace}.{name}" if namespace not in (None, "default") else str(name)


def _cron_job(document: Mapping[str, Any], tz: str, imported: Imported) -> None:
    spec = at_path(document, "spec")
    name, when = full_name(document), at_path(spec, "schedule")
    if not isinstance(when, str):
        imported.leave(f"CronJob {name}", "it has no schedule")
        return
    origin = f"CronJob {name}: {short(when)}"
    zone = str(at_path(spec, "timeZone") or tz)
    prefix = _ZONE.match(when)
    try:
        if prefix is not None:
            if at_path(spec, "timeZone"):
                raise ValueError("it has a time zone in its schedule and in timeZone, but Kubernetes accepts only one")
            zone, when = prefix[1], when[prefix.end() :]
        trigger, clock = _trigger(when, zone)
    except ValueError as error:
        imported.leave(origin, str(error))
        return
    entry = ImportedSchedule(
        name, {**trigger, "tz": zone}, origin, fires=None if clock is None else clock.fires_by_clock(zone)
    )
    if prefix is not None:
        entry.notes.append("Only older versions of Kubernetes accept a time zone in the schedule.")
    if clock is None:
        entry.notes.append("Counted from 1970, not from the creation of the CronJob.")
    pod = at_path(spec, "jobTemplate", "spec", "template", "spec")
    entry.fields |= _policies(spec, entry)
    command = _command(pod, entry)
    if command is None:
        entry.off = "its program is only defined in the image; add the program"
        entry.fields[CommandSpec.kind] = ["/bin/true"]
    else:
        entry.fields[CommandSpec.kind] = command
    suspended = at_path(spec, "suspend")
    if (suspended.lower() if isinstance(suspended, str) else suspended) in _TRUE:
        entry.off = "it is suspended" + (f", and {entry.off}" if entry.off else "")
    imported.add(entry)


def _policies(spec: Any, entry: ImportedSchedule) -> dict[str, Any]:
    policies: dict[str, Any] = {
        "overlap": _OVERLAP.get(str(at_path(spec, "concurrencyPolicy")), "allow"),
        "catch_up": "latest",
    }
    if (deadline := at_path(spec, "startingDeadlineSeconds")) is not None:
        policies["start_within"] = deadline
    job = at_path(spec, "jobTemplate", "spec")
    limit = at_path(job, "backoffLimit")
    policies["retries"] = 6 if limit is None else limit
    if (seconds := at_path(job, "activeDeadlineSeconds")) is not None:
        policies["timeout"] = seconds
        entry.notes.append(
            "activeDeadlineSeconds limits all attempts together in Kubernetes. The timeout here limits each attempt."
        )
    for field in ("parallelism", "completions"):
        if (at_path(job, field) or 1) != 1:
            entry.notes.append(f"{field}: {at_path(job, field)} is not imported: one run starts one program.")
    return policies


def _command(pod: Any, entry: ImportedSchedule) -> dict[str, Any] | None:
    containers = _listed(pod, "containers")
    container = at_path(containers, 0)
    if len(containers) > 1 or at_path(pod, "initContainers"):
        entry.notes.append("Its other containers are not imported.")
    image = at_path(container, "image")
    entry.notes.append(f"It ran in {image}.")
    env = _env(container, entry)
    given = (_listed(container, part) for part in ("command", "args"))
    command, args = ([_filled(str(word), env, entry) for word in part] for part in given)
    if not command:
        if args:
            entry.notes.append(f"Arguments for the program of its image: {short(shlex.join(args))}")
        return None
    words = [*command, *args]
    spec: dict[str, Any] = {"program": words[0], "args": words[1:]}
    if words[0] in ("/bin/sh", "/bin/bash", "sh", "bash") and len(words) == 3 and words[1] == "-c":
        spec = {"shell": words[2]}
        if words[0].endswith("bash"):
            spec["program"] = "/bin/bash"
    elif not words[0].startswith("/"):
        spec = {"shell": f"exec {shlex.join(words)}"}
    if folder := at_path(container, "workingDir"):
        spec["folder"] = folder
    if env:
        spec["env"] = env
    if not spec.get("args", True):
        del spec["args"]
    return spec


def _env(container: Any, entry: ImportedSchedule) -> dict[str, Any]:
    env: dict[str, Any] = {}
    for variable in _listed(container, "env"):
        name, source = str(at_path(variable, "name")), at_path(variable, "valueFrom")
        if not _VARIABLE.fullmatch(name) or name.startswith("TICKBIRD_"):
            entry.notes.append(f"The variable {short(name)} is not imported: the name is not a valid variable name.")
            continue
        if not isinstance(source, Mapping):
            env[name] = _filled(str(at_path(variable, "value") or ""), env, entry)
            continue
        env[name] = {"env": name}
        kind, *_ = (*source,) or ("",)
        candidates = (at_path(source, str(kind), field) for field in ("name", "fieldPath", "resource"))
        reference = next((candidate for candidate in candidates if candidate), "")
        entry.notes.append(f"{name} came from {kind} {reference}: set it for the worker.")
    for source in _listed(container, "envFrom"):
        entry.notes.append(f"The variables of {short(json.dumps(source))} are not imported.")
    return env


def _filled(text: str, env: Mapping[str, Any], entry: ImportedSchedule) -> str:
    """Expand $(NAME) like Kubernetes: only variables that are set above. Other references stay unchanged."""

    def filled(match: re.Match[str]) -> str:
        if match[1] == "$":
            return "$"
        value = env.get(match[2])
        if isinstance(value, Mapping):
            entry.notes.append(f"$({match[2]}) was set by Kubernetes, for example from a secret. Set it here.")
        return value if isinstance(value, str) else match[0]

    return _REFERENCE.sub(filled, text)


def _trigger(when: str, tz: str) -> tuple[dict[str, Any], CronSets | None]:
    """Read a schedule like the library robfig/cron, which Kubernetes uses."""
    text = when.strip()
    if text.startswith("@every "):
        hours, minutes, seconds = (int(part or 0) for part in _matched(text[7:].strip()))
        return {"every": f"{hours * 3600 + minutes * 60 + seconds}s"}, None
    text = _NICKNAMES.get(text, text)
    parts = text.split()
    if len(parts) != 5:
        raise ValueError(f"{when!r} has {len(parts)} fields, not five")
    sets, stars = {}, {}
    for name, part in zip(_FIELDS, parts, strict=True):
        sets[name], stars[name] = _field(part, name)
    clock = CronSets(
        minutes=sets["minute"],
        hours=sets["hour"],
        days=sets["day"],
        months=sets["month"],
        weekdays=sets["weekday"],
        # In robfig/cron, a field with a step is restricted, and two restricted day fields are alternatives.
        either=not (stars["day"] or stars["weekday"]),
        starred=(_starred(parts[0]), _starred(parts[1])),
    )
    return clock.fields(), clock


def _matched(text: str) -> tuple[str, ...]:
    match = _DURATION.fullmatch(text)
    if not match or not text:
        raise ValueError(f"{text!r} is not a duration")
    return match.groups()


def _starred(part: str) -> str:
    return part.replace("?", "*") if re.fullmatch(r"[*?](/\d+)?", part) else ""


def _field(text: str, name: str) -> tuple[frozenset[int], bool]:
    """Return the values of a field, and True if it counts as unrestricted."""
    values: set[int] = set()
    star = False
    for part in text.split(","):
        low, high = min(all_values(name)), max(all_values(name))
        span, slash, step = part.partition("/")
        count = int(step) if step.isdigit() else 0
        if slash and count < 1:
            raise ValueError(f"{name}: {part!r} is not a step")
        if span in ("*", "?"):
            first, last = low, high
            star = star or not slash or count == 1
        else:
            begin, dash, end = span.partition("-")
            first = number_of(begin, _NAMES.get(name, {}))
            last = number_of(end, _NAMES.get(name, {})) if dash else (high if slash else first)
        if not low <= first <= last <= high:
            raise ValueError(f"{name}: {part!r} is not from {low} to {high}")
        values.update(range(first, last + 1, count or 1))
    return frozenset(values), star
