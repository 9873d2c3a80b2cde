"""Tokens: how they look, what is kept of them, and what their roles may do."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, get_args

from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.text import check_name

# Each may also do what those before it may.
Role = Literal["viewer", "operator", "editor", "admin"]
TokenState = Literal["live", "expired", "revoked"]
# None stands for every namespace, also those to come.
Namespaces = tuple[str, ...] | None

ROLES: Final[tuple[Role, ...]] = get_args(Role)
# Random bytes that a token is made of: its id, then its secret.
NOISE: Final = 5 + 32
TOKEN_ID_LENGTH: Final = 8
MAX_NAMESPACES: Final = 100
# `last_used_at` is written again only after so many seconds.
USE_NOTED_EVERY: Final = 60

# A prefix of its own lets scanners find a token that was published by mistake.
_TOKEN = re.compile(r"tbk_([a-z2-7]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
_ID = re.compile(r"[a-z2-7]{8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token to be stored: of its secret only the digest."""

    id: str
    digest: str = field(repr=False)
    name: str
    role: Role
    namespaces: Namespaces
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """A stored token; `state` is as of the store's clock when it was read."""

    id: str
    digest: str = field(repr=False)
    name: str
    role: Role
    namespaces: Namespaces
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    revoked_by: str | None = None
    last_used_at: datetime | None = None
    state: TokenState = "live"
    # How many are open with it.
    sessions: int = 0

    def opens(self, namespace: str) -> bool:
        """May its holder see this namespace at all?"""
        return self.namespaces is None or namespace in self.namespaces

    def matches(self, secret: str) -> bool:
        """Is this its secret? Takes as long whatever the answer is."""
        return hmac.compare_digest(self.digest, digest(secret))


def make_token(noise: bytes) -> tuple[str, str, str]:
    """The id, the secret and the whole text of a token made of random bytes."""
    if len(noise) != NOISE:
        raise ValueError(f"a token is made of {NOISE} random bytes, not of {len(noise)}")
    return named_by("tbk", noise[:5], noise[5:])


def named_by(prefix: str, name: bytes, rest: bytes) -> tuple[str, str, str]:
    """An id, a secret and the text that has both, written so that neither has to be quoted anywhere."""
    made = base64.b32encode(name).decode().lower()
    secret = base64.urlsafe_b64encode(rest).decode().rstrip("=")
    return made, secret, f"{prefix}_{made}_{secret}"


def parse_token(text: str) -> tuple[str, str] | None:
    """The id and the secret of a token's text; None for what cannot be one."""
    found = _TOKEN.fullmatch(text)
    return None if found is None else (found[1], found[2])


def is_token_id(text: object) -> bool:
    """Could a token have this id?"""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def digest(secret: str) -> str:
    """What is stored of a secret; it has 256 random bits, so that one plain hash keeps it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def state_at(revoked_at: datetime | None, expires_at: datetime | None, now: datetime) -> TokenState:
    """May a token be used at this instant?"""
    if revoked_at is not None:
        return "revoked"
    return "expired" if expires_at is not None and expires_at <= now else "live"


def allows(role: Role, needed: Role) -> bool:
    """May a holder of this role do what needs that one?"""
    return ROLES.index(role) >= ROLES.index(needed)


def covers(mine: Namespaces, others: Namespaces) -> bool:
    """Are these namespaces all among mine? Whoever hands out or revokes a token may only do so for them."""
    return mine is None or (others is not None and {*others} <= {*mine})


def holder(name: str, token_id: str) -> str:
    """Who is recorded as having done something with a token: names are not unique, and neither are they checked."""
    return f"{name} (token {token_id})"


def audited_in(opened: Namespaces, own: str) -> tuple[str, ...]:
    """Where it is recorded what was done to a token: in the namespaces that it opens, else in that of who did it."""
    return (own,) if opened is None else opened


def audit_detail(record: TokenRecord) -> dict[str, Any]:
    """What the audit keeps of a token."""
    expires = None if record.expires_at is None else record.expires_at.isoformat().replace("+00:00", "Z")
    namespaces = None if record.namespaces is None else list(record.namespaces)
    return {
        "token": record.id,
        "name": record.name,
        "role": record.role,
        "namespaces": namespaces,
        "expires_at": expires,
    }


def check_role(role: object) -> Role:
    """The role itself, or an InvalidError."""
    for known in ROLES:
        if role == known:
            return known
    raise InvalidError(f"role: {str(role)[:60]!r} is not one of {', '.join(ROLES)}.", field="role")


def check_namespaces(namespaces: Collection[str] | None) -> Namespaces:
    """The namespaces of a token, each once and in order; None for all."""
    if namespaces is None:
        return None
    if isinstance(namespaces, str) or not 1 <= len(namespaces) <= MAX_NAMESPACES:
        raise InvalidError(
            f"namespaces: must be a list of 1 to {MAX_NAMESPACES} names;",
            field="namespaces",
            hint="name those that the token opens, or none at all for every one.",
        )
    return tuple(sorted({check_name(name, "namespace") for name in namespaces}))


def requested_namespaces(mine: Namespaces, given: Collection[str] | None, *, everything: bool) -> Namespaces:
    """What a new token is to open; without a word, what its maker's own does, if that is counted."""
    if everything:
        if given is not None:
            raise InvalidError("namespaces: give them, or all_namespaces, not both.", field="namespaces")
        return None
    if given is None and mine is None:
        raise InvalidError(
            "namespaces: is missing;",
            field="namespaces",
            hint='name those that it opens, or say "all_namespaces": true.',
        )
    return check_namespaces(mine if given is None else given)


def no_such_token(token_id: str) -> NotFoundError:
    """The error for an id that no token has."""
    return NotFoundError(f"there is no token {token_id[:60]!r};", hint="`tickbird token list` shows those that exist.")
