"""The policies of a schedule as inputs of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.schedules import kinds
from tickbird.domain.schedules.fields import POLICIES, Group, PolicyField
from tickbird.web.forms.instants import read_instant


@dataclass(frozen=True, slots=True)
class Input:
    """One input of the form."""

    policy: PolicyField

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def options(self) -> Sequence[tuple[str, str]]:
        """Options of a select with their meaning; empty for a text input."""
        match self.policy.kind:
            case kinds.Choice() as kind:
                return [(word, f"{word}: {meaning}") for word, meaning in kind.meanings.items()]
            case kinds.Flag():
                return [("false", "no"), ("true", "yes")]
        return []

    @property
    def suggestions(self) -> Sequence[str]:
        """Names that the input accepts besides numbers."""
        return list(self.policy.kind.names) if isinstance(self.policy.kind, kinds.Number) else []

    @property
    def is_long(self) -> bool:
        """True for text that may have several lines."""
        return isinstance(self.policy.kind, kinds.Text)

    def read(self, text: str, tz: str) -> Any:
        """Parse a text; empty means the default."""
        typed = text if self.is_long else text.strip()
        if not typed:
            return self.policy.default
        return self.policy.parse(typed, lambda text, field: read_instant("T".join(text.split()), tz, field).at)


# The payload has its own form.
INPUTS: Final = tuple(Input(policy) for policy in POLICIES.values() if not isinstance(policy.kind, kinds.Payload))
# The page opens the first group, and groups with values that are set.
GROUPS: Final = tuple((group, [field for field in INPUTS if field.policy.group is group]) for group in Group)


def texts_of(definition: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of all inputs; empty for defaults, except in selects."""
    texts = {field.name: field.policy.text(definition.get(field.name)) for field in INPUTS}
    # A new schedule inherits the task setting until the user selects another.
    selected = [field for field in INPUTS if field.options and (definition or not field.policy.task_setting)]
    return texts | {field.name: field.policy.default_text for field in selected if definition.get(field.name) is None}
