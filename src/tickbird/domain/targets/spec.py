"""Target kinds: a kind is a subclass of TargetSpec, which declares everything that other code needs.

`tickbird.domain.targets.registry` lists the kinds of this package and loads those of plug-ins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

if TYPE_CHECKING:
    from typing import Self

Schema = dict[str, Any]
# Roles of tokens, in ascending order.
DefiningRole = Literal["editor", "admin"]
# The path of a part of a value in a file, and a value that `from_json` accepts if the part is valid.
WrittenPart = tuple[tuple[str | int, ...], Any]
MAX_NAME_LENGTH: Final = 1_000


@dataclass(frozen=True, slots=True)
class FormField:
    """An input in the form of a target."""

    # The key in the spec's JSON object; empty: the input has the whole JSON value.
    name: str
    label: str
    hint: str = ""
    # "text": the typed text is the value; "json": the typed text is parsed as JSON.
    kind: Literal["text", "json"] = "text"


class TargetSpec(ABC):
    """The specification of a target: a frozen dataclass, equal if its JSON is equal.

    Plug-ins subclass it, and name the class in the entry point group `tickbird.targets`.
    """

    __slots__ = ()

    # The key in JSON and in files: lower-case letters, digits and underscores.
    kind: ClassVar[str]
    # One sentence for editors and for the API's documentation.
    about: ClassVar[str]
    # `module:function`, imported by workers only; called with the app, it returns the executables.
    executor: ClassVar[str]
    # The lowest role that may define such a target over the API and on the page.
    role: ClassVar[DefiningRole] = "editor"
    # The first format of definitions with this kind. None: its definitions have their own formats, so that a process
    # that does not know the kind ignores them.
    format: ClassVar[int | None] = None
    # True: workers that plan carry it out in the store, without executables and without slots.
    runs_in_store: ClassVar[bool] = False
    # The title and the inputs of its form.
    form_title: ClassVar[str] = ""
    form: ClassVar[tuple[FormField, ...]] = (FormField("", "As JSON", kind="json"),)
    # The expected value in a file, for the diagnostic of a wrong one.
    expects: ClassVar[str] = "an object"

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """The name that workers publish and claims match; it must be the name of an executable."""

    @abstractmethod
    def to_json(self) -> Any:
        """Return the stored JSON."""

    @classmethod
    @abstractmethod
    def from_json(cls, value: Any) -> Self:
        """Build the spec from JSON; raise DefinitionError with the kind as its field."""

    @classmethod
    @abstractmethod
    def json_schema(cls) -> Schema:
        """Return the JSON Schema of `to_json`."""

    @classmethod
    def file_schema(cls) -> Schema:
        """Return the JSON Schema of the value in files."""
        return cls.json_schema()

    @classmethod
    def written_parts(cls, value: Any) -> Iterable[WrittenPart]:
        """Yield the parts of a value in a file that are validated separately, so that each error has its location."""
        return ()

    @property
    def line(self) -> str:
        """One line that describes the target."""
        return self.name

    @property
    def details(self) -> Mapping[str, Any]:
        """The fields that `line` does not show."""
        encoded = self.to_json()
        return encoded if isinstance(encoded, Mapping) else {}

    @classmethod
    def describe(cls, name: str) -> str:
        """Describe a target of this kind as a part of a sentence."""
        return f"{cls.kind} {name!r}"

    @classmethod
    def requirement(cls, name: str) -> str:
        """Complete the sentence "no live worker …"."""
        return f"executes {cls.describe(name)}"

    @classmethod
    def worker_command(cls, queue: str, name: str) -> str:
        """Return the command line of a worker that would execute it."""
        return (
            f"tickbird worker MODULE:APP --queues {quote(queue)}   # on a machine that can execute {cls.describe(name)}"
        )
