"""The policies of a schedule as a form has them: texts that are read back, and left alone where nobody touched them."""

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
        """What one selects from, with its meaning; empty if one types."""
        match self.policy.kind:
            case kinds.Choice() as kind:
                return [(word, f"{word}: {meaning}") for word, meaning in kind.meanings.items()]
            case kinds.Flag():
                return [("false", "no"), ("true", "yes")]
        return []

    @property
    def suggestions(self) -> Sequence[str]:
        """Words that may be typed."""
        return list(self.policy.kind.names) if isinstance(self.policy.kind, kinds.Number) else []

    @property
    def is_long(self) -> bool:
        """Is it prose, perhaps of several lines?"""
        return isinstance(self.policy.kind, kinds.Text)

    def read(self, text: str, tz: str) -> Any:
        """The value of a text, or an InvalidError; nothing is the default."""
        typed = text if self.is_long else text.strip()
        if not typed:
            return self.policy.default
        return self.policy.parse(typed, lambda text, field: read_instant("T".join(text.split()), tz, field).at)


# All but the payload, which has inputs of its own.
INPUTS: Final = tuple(Input(policy) for policy in POLICIES.values() if not isinstance(policy.kind, kinds.Payload))
# Only the first is open where nothing is stated.
GROUPS: Final = tuple((group, [field for field in INPUTS if field.policy.group is group]) for group in Group)


def texts_of(definition: Mapping[str, Any]) -> dict[str, str]:
    """The texts of all fields of a stored definition; nothing where it has its default, but for what one selects."""
    texts = {field.name: field.policy.text(definition.get(field.name)) for field in INPUTS}
    # A new one has the setting of its task until another is selected.
    selected = [field for field in INPUTS if field.options and (definition or not field.policy.task_setting)]
    return texts | {field.name: field.policy.default_text for field in selected if definition.get(field.name) is None}
