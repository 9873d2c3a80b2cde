"""PostgreSQL URLs: libpq's parser reads them; display texts contain no secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final, Self
from urllib.parse import quote, unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tickbird.domain.errors import StoreError
from tickbird.domain.urls import describe_url

SCHEMA: Final = "tickbird"
_OPTION: Final = "schema"
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_SCHEMES: Final = ("postgresql", "postgres")
# Every other parameter may hold a secret, today or in a later libpq.
_SHOWN: Final = ("user", "host", "hostaddr", "port", "dbname")
# libpq ends the user info at the first @, unless a / comes first.
_QUERY: Final = re.compile(r"([a-z]+://(?:[^@/]*@)?)([^?]*)(?:\?(.*))?", re.DOTALL)
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+")
_IPV6: Final = re.compile(r"[0-9A-Fa-f:.]+")
_EXAMPLE: Final = (
    'Use the form "postgresql://user:password@host:5432/database", with @ in a password as %40, / as %2F and % as %25.'
)


@dataclass(frozen=True, slots=True)
class PostgresUrl:
    """The parameters of a connection by libpq's names, and the schema with the tables."""

    parameters: Mapping[str, str] = field(repr=False)
    schema: str = SCHEMA

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read a URL, or libpq's `keyword=value` form; a StoreError does not quote any secret."""
        scheme, separator, rest = url.partition("://")
        if not separator:
            return cls(_parse_conninfo(url, url))
        if scheme.lower() not in _SCHEMES or not url.isprintable():
            raise _bad_url(url) from None
        match = _QUERY.fullmatch(f"{scheme.lower()}{separator}{rest}")
        assert match is not None
        start, location, query = match.groups()
        pairs = [] if not query else [(*pair.partition("=")[::2], pair) for pair in query.split("&")]
        _refuse_cut_password(url, location, pairs)
        names = [value for name, value, _ in pairs if unquote(name) == _OPTION]
        remaining = "&".join(pair for name, _, pair in pairs if unquote(name) != _OPTION)
        return cls(_parse_conninfo(f"{start}{location}{remaining and '?'}{remaining}", url), _check_schema(names))

    def with_parameters(self, **parameters: str) -> Self:
        """A copy with other values of parameters."""
        return replace(self, parameters={**self.parameters, **parameters})

    def __str__(self) -> str:
        """The display address: user, hosts, ports, database and schema."""
        return self._write({name: self.parameters[name] for name in _SHOWN if name in self.parameters})

    @property
    def secret_text(self) -> str:
        """The complete URL with its secrets, for another process that opens the same store."""
        return self._write(self.parameters)

    @property
    def display_name(self) -> str:
        """Database and server, for messages."""
        parameters = self.parameters
        host = parameters.get("host") or parameters.get("hostaddr") or "localhost"
        port = parameters.get("port", "").strip(",") or 5432
        text = f"database {parameters.get('dbname') or parameters.get('user') or 'postgres'!r} at {host}:{port}"
        return text.replace('"', "") + ("" if self.schema == SCHEMA else f", schema {self.schema}")

    def _write(self, parameters: Mapping[str, str]) -> str:
        remaining = dict(parameters)
        login = quote(remaining.pop("user", ""), safe="")
        if "password" in remaining:
            login += f":{quote(remaining.pop('password'), safe='')}"
        hosts = _write_hosts(remaining)
        database = quote(remaining.pop("dbname", ""), safe="")
        if self.schema != SCHEMA:
            remaining[_OPTION] = self.schema
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in remaining.items())
        text = f"postgresql://{login and f'{login}@'}{hosts}"
        return text + ("/" if database or query else "") + database + (query and f"?{query}")


def _write_hosts(remaining: dict[str, str]) -> str:
    """Hosts and ports for the part of a URL before the path; others stay in the query."""
    hosts = remaining.get("host", "").split(",")
    ports = remaining.get("port", "").split(",")
    if len(ports) == 1:
        ports *= len(hosts)
    texts = [host if _HOST.fullmatch(host) else f"[{host}]" if _IPV6.fullmatch(host) else "" for host in hosts]
    if len(ports) != len(hosts) or not all(texts):
        return ""
    del remaining["host"]
    remaining.pop("port", None)
    return ",".join(text + (port and f":{port}") for text, port in zip(texts, ports, strict=True))


def _parse_conninfo(text: str, url: str) -> Mapping[str, str]:
    try:
        parameters = {name: str(value) for name, value in conninfo_to_dict(text).items() if value is not None}
    # libpq quotes the part that it cannot read, which may be the password.
    except (psycopg.Error, ValueError):
        if option := _find_unknown_option(text):
            raise _unknown_option(option) from None
        raise _bad_url(url) from None
    ports = parameters.get("port", "").split(",")
    if "\0" in text or not all(port == "" or (port.isascii() and port.isdigit()) for port in ports):
        raise _bad_url(url) from None
    return parameters


def _list_secrets() -> set[str]:
    return {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults() if option.dispchar == b"*"}


def _refuse_cut_password(url: str, location: str, pairs: list[tuple[str, str, str]]) -> None:
    """Refuse a password with an unescaped @ or /: libpq would take a part of it for a host, port or database."""
    values = [text for name, _, text in pairs if unquote(name) not in {"user", *_list_secrets()}]
    if any("@" in text for text in (location, *values)):
        raise _bad_url(url) from None


def _find_unknown_option(url: str) -> str | None:
    """The first unknown option in the query; None after a secret, because it may be a part of it."""
    match = _QUERY.fullmatch(url)
    names = [unquote(pair.partition("=")[0]) for pair in ((match and match[3]) or "").split("&") if "=" in pair]
    names = list(takewhile(lambda name: name not in _list_secrets(), names))
    # libpq accepts ssl=true as an alias, for compatibility with other drivers.
    options = {"ssl", *(option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults())}
    return next((name for name in names if name not in options), None)


def _check_schema(names: list[str]) -> str:
    if not names:
        return SCHEMA
    name = unquote(names[-1])
    if not _NAME.fullmatch(name) or name.startswith("pg_"):
        raise StoreError(
            f"{name[:60]!r} is not a valid schema name.",
            hint="Use lowercase letters, digits and underscores, such as ?schema=jobs.",
        )
    return name


def _bad_url(url: str) -> StoreError:
    return StoreError(f"{describe_url(url)!r} is not a PostgreSQL URL.", hint=_EXAMPLE)


def _unknown_option(option: str) -> StoreError:
    return StoreError(
        f"the PostgreSQL URL has an unknown option {option[:40]!r}.",
        hint="Remove it, or see the parameter key words in the manual of libpq.",
    )
