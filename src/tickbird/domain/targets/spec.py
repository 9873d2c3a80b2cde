"""Kinds of targets: a kind is a subclass of TargetSpec, which declares all that other code must know of it.

`tickbird.domain.targets.registry` has the kinds of this package and finds those of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

if TYPE_CHECKING:
    from typing import Self

Schema = dict[str, Any]
# As the roles of tokens: each may also do what those before it may.
DefiningRole = Literal["editor", "admin"]
# Where a part of a written value is, by keys and indexes, and a value that `from_json` reads if the part is right.
WrittenPart = tuple[tuple[str | int, ...], Any]
MAX_NAME_LENGTH: Final = 1_000


@dataclass(frozen=True, slots=True)
class FormField:
    """An input of the form in which people define a target."""

    # Of the spec's JSON object; empty: the input has all of the JSON.
    name: str
    label: str
    hint: str = ""
    # "text": the value is the text as it is typed; "json": it is the JSON that is typed.
    kind: Literal["text", "json"] = "text"


class TargetSpec:
    """What a target of one kind executes: a frozen dataclass, equal if its JSON is equal.

    Plug-ins subclass it, and name the class in the entry point group `tickbird.targets`.
    """

    __slots__ = ()

    # The key in JSON and in files: lower-case letters, digits and underscores.
    kind: ClassVar[str]
    # One sentence for editors and for the API's documentation.
    about: ClassVar[str]
    # `module:function` of what executes it, which only workers import: called with the app, it gives the executables.
    executor: ClassVar[str]
    # The least role that may define such a target over the API and on the page.
    role: ClassVar[DefiningRole] = "editor"
    # The first format of definitions that has this kind. None: its definitions have formats of their own, so that a
    # process that does not know the kind leaves them alone.
    format: ClassVar[int | None] = None
    # The inputs of the form in which people define it, and what stands above them: "Or …".
    form_title: ClassVar[str] = ""
    form: ClassVar[tuple[FormField, ...]] = (FormField("", "As JSON", kind="json"),)
    # What people write in a file, for the diagnostic of anything else.
    expects: ClassVar[str] = "an object"

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """Workers publish names, and a claim matches them: it must be one of those that an executor has."""

    def to_json(self) -> Any:
        """As it is stored."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """The spec of stored or written JSON; raises DefinitionError with the kind as its field."""
        raise NotImplementedError

    @classmethod
    def json_schema(cls) -> Schema:
        """The JSON Schema of what is stored."""
        raise NotImplementedError

    @classmethod
    def file_schema(cls) -> Schema:
        """The JSON Schema of what people write in files."""
        return cls.json_schema()

    @classmethod
    def written_parts(cls, value: Any) -> Iterable[WrittenPart]:
        """The parts of what people wrote that can be wrong by themselves, so that each is reported where it is."""
        return ()

    @property
    def line(self) -> str:
        """One line for people: what it executes."""
        return self.name

    @property
    def details(self) -> Mapping[str, Any]:
        """What its line does not say, by field."""
        encoded = self.to_json()
        return encoded if isinstance(encoded, Mapping) else {}

    @classmethod
    def describe(cls, name: str) -> str:
        """A target of this kind, in a sentence."""
        return f"{cls.kind} {name!r}"

    @classmethod
    def requirement(cls, name: str) -> str:
        """What a worker does that executes it, after "no live worker"."""
        return f"executes {cls.describe(name)}"

    @classmethod
    def worker_command(cls, queue: str, name: str) -> str:
        """The command line of a worker that would execute it, for people to paste."""
        return f"tickbird worker MODULE:APP --queues {quote(queue)}   # where {cls.describe(name)} can be executed"
