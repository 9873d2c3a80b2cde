"""Encode values as JSON and decode them, by dataclasses and their type hints.

A dataclass is a JSON object with a key per field. `shape` declares an object that differs from the fields. `adapt`
declares a value that is not an object, such as a rate. JSON Schema comes from the same hints (`schema.py`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from collections.abc import Collection as AbstractCollection
from collections.abc import Sequence as AbstractSequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tickbird.domain.time.instants import clamp_seconds, to_datetime, to_seconds, utc_text

T = TypeVar("T")
Document = Mapping[str, Any]
# None: the value is JSON already.
Convert = Callable[[Any], Any] | None
# An instant that the domain stores as whole seconds since the epoch.
EpochSecond = Annotated[int, "instant"]
# An instant in an object: {"at": …}.
Ping = Annotated[datetime, "ping"]
_LISTS: Final = (list, tuple, AbstractSequence, AbstractCollection, frozenset)


@dataclass(frozen=True, slots=True)
class Member:
    """A key of an object, with its attribute or the function that computes it."""

    key: str
    attribute: str
    hint: Any
    compute: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """How the object of a dataclass differs from its fields."""

    members: tuple[Member, ...]
    # Builds the value from its decoded members (default: the constructor, with `hidden` for fields that are not sent).
    build: Callable[[dict[str, Any]], Any] | None
    hidden: Mapping[str, Any]
    # Descriptions of keys in OpenAPI.
    about: Mapping[str, str]
    # Refuses other keys, as objects of requests do.
    closed: bool


@dataclass(frozen=True, slots=True)
class Adapter:
    """The encoder, decoder and JSON Schema of a type that is not an object."""

    encode: Convert
    decode: Convert
    # A schema, or a function that builds one from the schemas of other types.
    schema: Mapping[str, Any] | Callable[[Callable[[Any], dict[str, Any]]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Object:
    members: tuple[tuple[str, Any], ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Objects:
    members: tuple[tuple[str, Any], ...]
    # The type of the list in Python.
    make: type = list


_SHAPES: Final[dict[type, Callable[[], Shape]]] = {}
_ADAPTERS: Final[dict[Any, Adapter]] = {}


def shape(
    kind: type[T],
    *keys: str,
    hints: Mapping[str, Any] | None = None,
    computed: Mapping[str, tuple[Any, Callable[[T], Any]]] | None = None,
    build: Callable[[dict[str, Any]], T] | None = None,
    hidden: Mapping[str, Any] | None = None,
    about: Mapping[str, str] | None = None,
    closed: bool = False,
) -> None:
    """Declare the keys of a dataclass's object: `key`, or `key=attribute`; an attribute may be a property or dotted.

    `*` means all fields (default). `hints` are the types of keys whose annotation is not precise enough.
    `computed` keys have a type and a function. `hidden` fields are not sent, and have these values when the object is
    decoded. `build` builds the value from its decoded members, if the constructor cannot.
    """

    def make() -> Shape:
        names = [field.name for field in fields(kind) if field.name not in (hidden or {})]  # type: ignore[arg-type]
        all_fields = [f"{wire_name(name)}={name}" for name in names]
        declared = [key for name in keys or ("*",) for key in (all_fields if name == "*" else [name])]
        pairs = [(key.partition("=")[0], key.rpartition("=")[2]) for key in declared]
        members = [Member(key, name, (hints or {}).get(key) or _attribute_hint(kind, name)) for key, name in pairs]
        members += [Member(key, key, hint, compute) for key, (hint, compute) in (computed or {}).items()]
        return Shape(tuple(members), build, hidden or {}, about or {}, closed)

    _SHAPES[kind] = cache(make)


def wire_name(name: str) -> str:
    """Return the key of a field: `from_` is `from`."""
    return name.rstrip("_")


def adapt(
    kind: Any,
    encode: Convert,
    decode: Convert,
    schema: Mapping[str, Any] | Callable[[Callable[[Any], dict[str, Any]]], dict[str, Any]],
) -> None:
    _ADAPTERS[kind] = Adapter(encode, decode, schema)


@cache
def _load_shapes() -> None:
    # Imported with the first value, because the declarations import most of the domain.
    import tickbird.wire.shapes  # noqa: F401


def adapter_of(hint: Any) -> Adapter | None:
    _load_shapes()
    try:
        return _ADAPTERS.get(hint)
    except TypeError:  # not hashable
        return None


@cache
def shape_of(kind: type) -> Shape:
    """Return the declared shape of a dataclass (default: its fields)."""
    _load_shapes()
    if kind not in _SHAPES:
        shape(kind)
    return _SHAPES[kind]()


def encode(value: Any) -> Any:
    """Encode a value by its own type."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: encode(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [encode(member) for member in value]
    kind: Any = type(value)
    convert = encoder(kind)
    return value if convert is None else convert(value)


def decode(hint: type[T], document: Any) -> T:
    """Decode a document of `encode`; KeyError, TypeError or ValueError if it is invalid."""
    kind: Any = hint
    convert = decoder(kind)
    value: T = document if convert is None else convert(document)
    return value


@cache
def encoder(hint: Any) -> Convert:
    if (adapter := adapter_of(hint)) is not None:
        return adapter.encode
    if isinstance(hint, Object):
        return _tuple_encoder(hint)
    if isinstance(hint, Objects):
        return _list_of(_tuple_encoder(Object(hint.members)), list)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return (lambda at: utc_text(to_datetime(clamp_seconds(at)))) if "instant" in inner[1:] else encoder(inner[0])
    if hint is datetime:
        return utc_text
    if origin in (Union, types.UnionType):
        return _union_encoder(inner)
    if origin is Literal or hint in (int, float, str, bool, Any, type(None)):
        return None
    if origin in _LISTS:
        return _list_of(encoder(inner[0]), list)
    if origin in (dict, Mapping):
        return _mapping_of(encoder(inner[1]))
    if is_dataclass(hint) and isinstance(hint, type):
        return _object_encoder(hint)
    raise TypeError(f"{hint} has no JSON form; declare one with adapt()")


def _list_of(convert: Convert, make: Callable[[Any], Any]) -> Convert:
    return make if convert is None else lambda values: make([convert(value) for value in values])


def _mapping_of(convert: Convert) -> Convert:
    return dict if convert is None else lambda value: {key: convert(member) for key, member in value.items()}


def _object_encoder(kind: type) -> Convert:
    members = shape_of(kind).members
    plain = [member for member in members if member.compute is None]
    keys, names = [member.key for member in plain], [member.attribute for member in plain]
    # One call reads all attributes: a run has forty.
    read: Callable[[Any], tuple[Any, ...]] = attrgetter(*names) if len(names) > 1 else lambda v: (getattr(v, names[0]),)
    computed = [(member.key, member.compute) for member in members if member.compute is not None]
    converted: list[tuple[str, Callable[[Any], Any]]] | None = None

    def convert(value: Any) -> dict[str, Any]:
        nonlocal converted
        if converted is None:  # with the first value, because a type may contain itself
            writers = [(member.key, encoder(_stated(member.hint))) for member in members]
            converted = [(key, write) for key, write in writers if write is not None]
        document = dict(zip(keys, read(value), strict=True))
        for key, compute in computed:
            document[key] = compute(value)
        for key, write in converted:
            if document[key] is not None:
                document[key] = write(document[key])
        return document

    return convert


def _tuple_encoder(hint: Object) -> Convert:
    writes = [(key, encoder(member)) for key, member in hint.members]

    def convert(row: Any) -> dict[str, Any]:
        return {key: _converted(write, value) for (key, write), value in zip(writes, row, strict=True)}

    return convert


def _converted(convert: Convert, value: Any) -> Any:
    return value if convert is None or value is None else convert(value)


def _union_encoder(inner: tuple[Any, ...]) -> Convert:
    stated = [hint for hint in inner if hint is not type(None)]
    if len(stated) == 1:
        write = encoder(stated[0])
        return None if write is None else lambda value: None if value is None else write(value)
    if all(encoder(hint) is None for hint in stated):
        return None
    kinds = {get_origin(hint) or hint: encoder(hint) for hint in stated}

    def convert(value: Any) -> Any:
        write = kinds.get(type(value))
        return value if write is None else write(value)

    return convert


@cache
def decoder(hint: Any) -> Convert:
    """Return the inverse of `encoder`; it ignores unknown keys, because a newer version may send some."""
    if (adapter := adapter_of(hint)) is not None:
        return adapter.decode
    if isinstance(hint, Object):
        reads = [(key, decoder(member)) for key, member in hint.members]
        return lambda row: tuple(_converted(read, row[key]) for key, read in reads)
    if isinstance(hint, Objects):
        return _list_of(decoder(Object(hint.members)), hint.make)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return (lambda text: to_seconds(datetime.fromisoformat(text))) if "instant" in inner[1:] else decoder(inner[0])
    if hint is datetime:
        return datetime.fromisoformat
    if origin in (Union, types.UnionType):
        stated = [part for part in inner if part is not type(None)]
        read = decoder(stated[0]) if len(stated) == 1 else None
        return None if read is None else lambda value: None if value is None else read(value)
    if origin is Literal or hint in (int, float, str, bool, Any, type(None)):
        return None
    if origin in _LISTS:
        return _list_of(decoder(inner[0]), tuple if origin is tuple else list)
    if origin in (dict, Mapping):
        return _mapping_of(decoder(inner[1]))
    if is_dataclass(hint) and isinstance(hint, type):
        return _object_decoder(hint)
    raise TypeError(f"{hint} has no JSON form; declare one with adapt()")


def _object_decoder(kind: type) -> Convert:
    declared = shape_of(kind)
    stored = {field.name: field for field in fields(kind)}
    optional = {name for name, field in stored.items() if (field.default, field.default_factory) != (MISSING, MISSING)}
    decoded = [
        member
        for member in declared.members
        if declared.build or (member.compute is None and member.attribute in stored)
    ]

    def convert(document: Document) -> Any:
        values: dict[str, Any] = {}
        for member in decoded:
            if member.key not in document and (declared.build or member.attribute in optional):
                continue  # An older version does not send it.
            values[member.attribute] = _converted(decoder(_stated(member.hint)), document[member.key])
        return declared.build(values) if declared.build else kind(**declared.hidden, **values)

    return convert


def _stated(hint: Any) -> Any:
    """Remove None from a type; callers check for None first."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType) and type(None) in inner and adapter_of(hint) is None:
        stated = tuple(part for part in inner if part is not type(None))
        return stated[0] if len(stated) == 1 else Union[stated]  # noqa: UP007 - made of a tuple
    return hint


def _attribute_hint(kind: Any, name: str) -> Any:
    """Return the type of a field or property; `a.b` is `b` of the type of `a`."""
    first, _, rest = name.partition(".")
    hints = get_type_hints(kind, include_extras=True)
    if first not in hints:
        getter = getattr(kind, first)
        function = getter.fget if isinstance(getter, property) else getter.func
        hints[first] = get_type_hints(function, include_extras=True)["return"]
    return _attribute_hint(_stated(hints[first]), rest) if rest else hints[first]
