"""Sessions: what a browser holds in place of a token; each ends by itself, and with the token it was opened with."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from tickbird.domain.access.tokens import Namespaces, Role, TokenRecord, TokenState, digest, named_by
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.time.durations import Duration, seconds
from tickbird.domain.time.instants import utc_text

SessionState = Literal["live", "closed", "expired", "revoked"]

# Random bytes that a session is made of: its id, then its secret.
SESSION_NOISE: Final = 10 + 32
# One that is opened beyond these closes the oldest of its token.
MAX_SESSIONS: Final = 100
USUAL_SECONDS: Final = 12 * 3_600
MIN_SECONDS: Final = 60
MAX_SECONDS: Final = 30 * 86_400
# So long after its end a session can still be seen.
SESSION_KEPT: Final = 7 * 86_400
MAX_USER_AGENT: Final = 200

# Its prefix is not that of a token, and its id is longer: neither is ever taken for the other.
_SESSION = re.compile(r"tbs_([a-z2-7]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
_ID = re.compile(r"[a-z2-7]{16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session to be stored: of its secret only the digest; it lasts so many seconds, or as long as its token."""

    id: str
    digest: str = field(repr=False)
    token_id: str
    user_agent: str = ""
    seconds: int = USUAL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A stored session, with what its token may do; `state` is as of the store's clock when it was read."""

    id: str
    digest: str = field(repr=False)
    token_id: str
    # The token's, as they are now.
    name: str
    role: Role
    namespaces: Namespaces
    # What the browser says it is; anybody may say anything.
    user_agent: str = ""
    opened_at: datetime
    expires_at: datetime
    closed_at: datetime | None = None
    closed_by: str | None = None
    last_used_at: datetime | None = None
    state: SessionState = "live"

    def matches(self, secret: str) -> bool:
        """Is this its secret? Takes as long whatever the answer is."""
        return hmac.compare_digest(self.digest, digest(secret))


def make_session(noise: bytes) -> tuple[str, str, str]:
    """The id, the secret and the whole text of a session made of random bytes."""
    if len(noise) != SESSION_NOISE:
        raise ValueError(f"a session is made of {SESSION_NOISE} random bytes, not of {len(noise)}")
    return named_by("tbs", noise[:10], noise[10:])


def parse_session(text: str) -> tuple[str, str] | None:
    """The id and the secret of a session's text; None for what cannot be one."""
    found = _SESSION.fullmatch(text)
    return None if found is None else (found[1], found[2])


def is_session_id(text: object) -> bool:
    """Could a session have this id?"""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def session_state(closed_at: datetime | None, expires_at: datetime, now: datetime, parent: TokenState) -> SessionState:
    """May a session be used at this instant? Only while its token may, whose state is the last argument."""
    if closed_at is not None:
        return "closed"
    if parent != "live":
        return parent
    return "expired" if expires_at <= now else "live"


def check_length(within: Duration) -> int:
    """For how many seconds a session is opened."""
    length = seconds(within, "within")
    if not MIN_SECONDS <= length <= MAX_SECONDS:
        raise InvalidError("within: a session lasts from a minute to 30 days.", field="within")
    return length


def clean_user_agent(user_agent: str) -> str:
    """What is kept of a browser's name for itself: a line of text, and not much of it."""
    return "".join(letter if letter.isprintable() else " " for letter in user_agent[:MAX_USER_AGENT]).strip()


def check_opens(token: TokenRecord) -> None:
    """Refuse to open a session with a token that opens nothing itself."""
    if token.state != "live":
        raise ConflictError(f"the token {token.id} is {token.state}, and opens no session;", hint="use another token.")


def session_detail(session: SessionRecord) -> dict[str, Any]:
    """What the audit keeps of a session."""
    return {
        "session": session.id,
        "token": session.token_id,
        "name": session.name,
        "user_agent": session.user_agent,
        "expires_at": utc_text(session.expires_at),
    }


def no_such_session(session_id: str) -> NotFoundError:
    """The error for an id that no session has."""
    return NotFoundError(
        f"there is no session {session_id[:60]!r};", hint="it may have ended long ago; list those of its token."
    )
