"""Tokens: their format, their stored record and the permissions of their roles."""

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

# In ascending order: each role includes the permissions of the roles before it.
Role = Literal["viewer", "operator", "editor", "admin"]
TokenState = Literal["live", "expired", "revoked"]
# None means every namespace, including future ones.
Namespaces = tuple[str, ...] | None

ROLES: Final[tuple[Role, ...]] = get_args(Role)
# Random bytes of a token: its id, then its secret.
NOISE: Final = 5 + 32
TOKEN_ID_LENGTH: Final = 8
MAX_NAMESPACES: Final = 100
# Minimum seconds between two writes of `last_used_at`.
USE_NOTED_EVERY: Final = 60

# The prefix lets secret scanners find a leaked token.
_TOKEN = re.compile(r"tbk_([a-z2-7]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
_ID = re.compile(r"[a-z2-7]{8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token to store, with the digest of its secret."""

    id: str
    digest: str = field(repr=False)
    name: str
    role: Role
    namespaces: Namespaces
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """A stored token; `state` is as of the store's clock at the read."""

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
    # Number of open sessions.
    sessions: int = 0

    def opens(self, namespace: str) -> bool:
        """Return whether the token has access to this namespace."""
        return self.namespaces is None or namespace in self.namespaces

    def matches(self, secret: str) -> bool:
        """Compare the secret in constant time."""
        return hmac.compare_digest(self.digest, digest(secret))


def make_token(noise: bytes) -> tuple[str, str, str]:
    """Return the id, the secret and the full text of a token."""
    if len(noise) != NOISE:
        raise ValueError(f"a token needs {NOISE} random bytes, not {len(noise)}")
    return named_by("tbk", noise[:5], noise[5:])


def named_by(prefix: str, name: bytes, rest: bytes) -> tuple[str, str, str]:
    """Return an id, a secret and the text with both, in characters that need no quoting."""
    public_id = base64.b32encode(name).decode().lower()
    secret = base64.urlsafe_b64encode(rest).decode().rstrip("=")
    return public_id, secret, f"{prefix}_{public_id}_{secret}"


def parse_token(text: str) -> tuple[str, str] | None:
    """Return the id and the secret of a token; None if the text is not a token."""
    match = _TOKEN.fullmatch(text)
    return None if match is None else (match[1], match[2])


def is_token_id(text: object) -> bool:
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def digest(secret: str) -> str:
    """Return the stored form of a secret. It has 256 random bits, so an unsalted hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def state_at(revoked_at: datetime | None, expires_at: datetime | None, now: datetime) -> TokenState:
    if revoked_at is not None:
        return "revoked"
    return "expired" if expires_at is not None and expires_at <= now else "live"


def allows(role: Role, needed: Role) -> bool:
    return ROLES.index(role) >= ROLES.index(needed)


def covers(mine: Namespaces, others: Namespaces) -> bool:
    """Return whether `mine` includes `others`. A caller may create and revoke tokens only for its own namespaces."""
    return mine is None or (others is not None and {*others} <= {*mine})


def holder(name: str, token_id: str) -> str:
    """Return the actor that the audit log records. It has the id, because token names are not unique."""
    return f"{name} (token {token_id})"


def audited_in(opened: Namespaces, own: str) -> tuple[str, ...]:
    """Return the namespaces whose audit log records a change of a token: its own, or the actor's if it has all."""
    return (own,) if opened is None else opened


def audit_detail(record: TokenRecord) -> dict[str, Any]:
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
    """Return the role, or raise InvalidError."""
    for valid_role in ROLES:
        if role == valid_role:
            return valid_role
    raise InvalidError(f"role: {str(role)[:60]!r} is not one of {', '.join(ROLES)}.", field="role")


def check_namespaces(namespaces: Collection[str] | None) -> Namespaces:
    """Return the namespaces of a token, sorted and without duplicates; None for all."""
    if namespaces is None:
        return None
    if isinstance(namespaces, str) or not 1 <= len(namespaces) <= MAX_NAMESPACES:
        raise InvalidError(
            f"namespaces must be a list of 1 to {MAX_NAMESPACES} names.",
            field="namespaces",
            hint="List the namespaces of the token, or omit the list for all of them.",
        )
    return tuple(sorted({check_name(name, "namespace") for name in namespaces}))


def requested_namespaces(mine: Namespaces, given: Collection[str] | None, *, everything: bool) -> Namespaces:
    """Return the namespaces of a new token (default: those of the caller's token, unless it has all)."""
    if everything:
        if given is not None:
            raise InvalidError(
                "namespaces cannot be combined with all_namespaces.", field="namespaces", hint="Give one of them."
            )
        return None
    if given is None and mine is None:
        raise InvalidError(
            "namespaces: the list is missing.",
            field="namespaces",
            hint='List the namespaces of the token, or set "all_namespaces": true.',
        )
    return check_namespaces(mine if given is None else given)


def no_such_token(token_id: str) -> NotFoundError:
    return NotFoundError(f"there is no token {token_id[:60]!r}.", hint="`tickbird token list` lists the tokens.")


def check_token(token: str | None) -> str | None:
    """Check the form of a token, without blanks around it; the InvalidError does not show it."""
    if token is None or token == "":
        return None
    if not isinstance(token, str) or parse_token(token.strip()) is None:
        raise InvalidError(
            "token: this is not a Tickbird token.",
            field="token",
            hint="A token starts with tbk_; `tickbird token create` creates one.",
        )
    return token.strip()
