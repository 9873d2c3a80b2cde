"""Validation of a payload by the JSON Schema that a live worker publishes of its task."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tickbird.domain.errors import NotFoundError, PayloadError
from tickbird.domain.schedules.payload import check_payload

log = logging.getLogger("tickbird.payloads")
MAX_ERRORS: Final = 100
_MAX_ERROR_LENGTH: Final = 300


def check_by_schema(
    task: str, payload: Mapping[str, Any], published: Mapping[str, Any] | None, *, unknown_task_ok: bool
) -> Mapping[str, Any]:
    """The payload itself; PayloadError if it does not match. `published` is None if no live worker has the task."""
    check_payload(payload)
    if published is None:
        if not unknown_task_ok:
            raise NotFoundError(
                f"no live worker has a task {task!r}.",
                hint="Check its name, start the worker that has it, or allow it with unknown_task_ok=True.",
            )
        return payload
    for path, text in payload_errors(payload, published.get("schema", {})):
        field = ".".join(str(part) for part in path)
        raise PayloadError(f"payload of task {task!r}: {f'{field[:200]}: ' if field else ''}{text}.", field="payload")
    return payload


def payload_errors(payload: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Path and message of each error; none if the schema itself is invalid, since the task validates again."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # An empty registry: references out of the schema are never fetched.
    validator = Draft202012Validator(schema, registry=Registry())
    try:
        for error in itertools.islice(validator.iter_errors(dict(payload)), MAX_ERRORS):
            nearest = _nearest(error)
            yield tuple(nearest.absolute_path), str(nearest.message)[:_MAX_ERROR_LENGTH]
    except Exception:
        log.debug("the JSON Schema of a task cannot be used", exc_info=True)


def _nearest(error: Any) -> Any:
    """The error of the only alternative of `anyOf` or `oneOf` that has the type of the value."""
    near = [cause for cause in error.context or () if cause.validator != "type" or list(cause.relative_path)]
    return _nearest(near[0]) if error.validator in ("anyOf", "oneOf") and len(near) == 1 else error
