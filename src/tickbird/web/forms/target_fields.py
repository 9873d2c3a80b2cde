"""The inputs for targets in the schedule form, from the declarations of the kinds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tickbird.domain.errors import InvalidError
from tickbird.domain.targets.registry import read_spec, target_kinds
from tickbird.domain.targets.spec import DefiningRole, FormField
from tickbird.domain.targets.target import TASK, Target


@dataclass(frozen=True, slots=True)
class TargetForm:
    """The inputs of one kind of target; tasks have their own input."""

    kind: str
    title: str
    role: DefiningRole
    fields: tuple[FormField, ...]

    def input(self, field: FormField) -> str:
        return f"{self.kind}.{field.name}" if field.name else self.kind

    @property
    def labels(self) -> dict[str, str]:
        """The labels by input."""
        return {self.input(field): field.label for field in self.fields}

    @property
    def inputs(self) -> list[str]:
        return [*self.labels]

    @property
    def refusal(self) -> str:
        """The error if the caller's role is too low."""
        return f"Only the role {self.role} may define a target of kind {self.kind}."

    def texts_of(self, value: Any) -> dict[str, str]:
        """Return the texts of the inputs for a spec; empty if it is None."""
        return {self.input(field): _text(field, value) for field in self.fields}

    def read(self, texts: Mapping[str, str], base: Any) -> Target:
        """Build the target from the inputs; spec fields without an input keep their value."""
        value: Any = dict(base) if isinstance(base, Mapping) else {}
        for field in self.fields:
            text = texts[self.input(field)]
            if not field.name:
                value = self._json(field, text)
            elif not text.strip():
                value.pop(field.name, None)
            else:
                value[field.name] = self._json(field, text) if field.kind == "json" else text
        return read_spec(self.kind, value)

    def _json(self, field: FormField, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidError(f"This is not JSON: {str(error)[:200]}.", field=self.input(field)) from None


def target_forms() -> Sequence[TargetForm]:
    """Return the kinds that have a form, except tasks."""
    return [
        TargetForm(kind, spec.form_title or kind, spec.role, spec.form)
        for kind, spec in target_kinds().items()
        if kind != TASK and spec.form
    ]


def _text(field: FormField, value: Any) -> str:
    if field.name:
        value = value.get(field.name) if isinstance(value, Mapping) else None
    if value is None:
        return ""
    if field.kind == "text" and isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1)
