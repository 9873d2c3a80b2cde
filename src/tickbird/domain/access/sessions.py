"""Sessions: browser credentials that expire by themselves and together with their token."""

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

# Random bytes of a session: its id, then its secret.
SESSION_NOISE: Final = 10 + 32
# Opening another session closes the oldest session of the token.
MAX_SESSIONS: Final = 100
USUAL_SECONDS: Final = 12 * 3_600
MIN_SECONDS: Final = 60
MAX_SECONDS: Final = 30 * 86_400
# Seconds for which an ended session stays visible.
SESSION_KEPT: Final = 7 * 86_400
MAX_USER_AGENT: Final = 200

# Prefix and id length differ from those of a token, so the two cannot be confused.
_SESSION = re.compile(r"tbs_([a-z2-7]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
_ID = re.compile(r"[a-z2-7]{16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session to store, with the digest of its secret; it ends after `seconds` or with its token."""

    id: str
    digest: str = field(repr=False)
    token_id: str
    user_agent: str = ""
    seconds: int = USUAL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A stored session with the permissions of its token; `state` is as of the store's clock at the read."""

    id: str
    digest: str = field(repr=False)
    token_id: str
    # Current values of the token.
    name: str
    role: Role
    namespaces: Namespaces
    # Reported by the browser, so it is not trustworthy.
    user_agent: str = ""
    opened_at: datetime
    expires_at: datetime
    closed_at: datetime | None = None
    closed_by: str | None = None
    last_used_at: datetime | None = None
    state: SessionState = "live"

    def matches(self, secret: str) -> bool:
        """Compare the secret in constant time."""
        return hmac.compare_digest(self.digest, digest(secret))


def make_session(noise: bytes) -> tuple[str, str, str]:
    """Return the id, the secret and the full text of a session."""
    if len(noise) != SESSION_NOISE:
        raise ValueError(f"a session needs {SESSION_NOISE} random bytes, not {len(noise)}")
    return named_by("tbs", noise[:10], noise[10:])


def parse_session(text: str) -> tuple[str, str] | None:
    """Return the id and the secret of a session; None if the text is not a session."""
    match = _SESSION.fullmatch(text)
    return None if match is None else (match[1], match[2])


def is_session_id(text: object) -> bool:
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def session_state(closed_at: datetime | None, expires_at: datetime, now: datetime, parent: TokenState) -> SessionState:
    """Return the state of a session; `parent` is the state of its token."""
    if closed_at is not None:
        return "closed"
    if parent != "live":
        return parent
    return "expired" if expires_at <= now else "live"


def check_length(within: Duration) -> int:
    """Return the seconds of a session, or raise InvalidError."""
    length = seconds(within, "within")
    if not MIN_SECONDS <= length <= MAX_SECONDS:
        raise InvalidError(
            "within: a session lasts from 1 minute to 30 days.", field="within", hint="Choose a duration in this range."
        )
    return length


def clean_user_agent(user_agent: str) -> str:
    """Return the stored form of a User-Agent: one line of printable text, truncated."""
    return "".join(letter if letter.isprintable() else " " for letter in user_agent[:MAX_USER_AGENT]).strip()


def check_opens(token: TokenRecord) -> None:
    """Raise ConflictError if the token is not live."""
    if token.state != "live":
        raise ConflictError(f"token {token.id} is {token.state} and cannot open a session.", hint="Use another token.")


def session_detail(session: SessionRecord) -> dict[str, Any]:
    """Return the audit detail of a session."""
    return {
        "session": session.id,
        "token": session.token_id,
        "name": session.name,
        "user_agent": session.user_agent,
        "expires_at": utc_text(session.expires_at),
    }


def no_such_session(session_id: str) -> NotFoundError:
    return NotFoundError(
        f"there is no session {session_id[:60]!r}.", hint="It may have ended long ago. List the sessions of its token."
    )
