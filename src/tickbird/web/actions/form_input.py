"""The input of a form: fields, times, and errors that keep the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.time.instants import utc_text
from tickbird.web.forms.field_errors import without_field
from tickbird.web.forms.instants import Picked, in_full, read_instant, tomorrow_at, zone_choices
from tickbird.web.forms.payload_form import read_object
from tickbird.web.page_request import PageRequest

# "Now" means this number of seconds in the future.
NOW_SECONDS: Final = 3
TOMORROW_HOUR: Final = 9


class FormInput:
    """The input of a form, from the form itself, the query string, or defaults."""

    # Fields that can show an error. Other errors are shown above the form.
    fields: ClassVar[tuple[str, ...]] = ("note",)
    # Fields that are an instant, with the name of their list of choices (or "").
    instants: ClassVar[Mapping[str, str]] = {}
    # Initial values of fields.
    defaults: ClassVar[Mapping[str, str]] = {}

    def __init__(self, visit: PageRequest) -> None:
        self.visit = visit
        self.wrong: dict[str, str] = {}

    @property
    def refusals(self) -> Sequence[str]:
        """Errors that do not belong to a field of the form."""
        return [text for field, text in self.wrong.items() if field not in self.fields]

    @property
    def sent(self) -> bool:
        """True if the form was sent, also for a preview."""
        return bool(self.visit.request.method == "POST")

    def typed(self, name: str, default: str = "") -> str:
        """Return the value of a field: from the form, the query string, or the default."""
        if self.sent:
            return self.visit.form.raw(name) or ""
        return self.visit.query.get(name) or self.defaults.get(name, default)

    def is_on(self, name: str, default: bool = False) -> bool:
        return name in self.visit.form if self.sent else name in self.visit.query or default

    @property
    def note(self) -> str:
        return self.typed("note").strip()

    @property
    def own_zone(self) -> str | None:
        """The time zone of the object, if it has one."""
        return None

    @property
    def zones(self) -> Sequence[str]:
        """Time zones that the form offers, the chosen one first."""
        return zone_choices(self.visit.clock, self.own_zone, self.typed("tz"))

    def picked(self, name: str) -> Picked:
        text = self.typed(name).strip()
        if not text:
            raise InvalidError("Choose a date and a time.", field=name)
        return read_instant(text, self.zones[0], name)

    def reads(self, name: str, default: str = "") -> str:
        """Describe the chosen time in the zone of the form and in UTC; empty if there is none."""
        choice = self.instants.get(name, "")
        try:
            if choice and self._choice(name, choice) != "pick":
                at = self.instant(name, choice=choice)
                picked = None if at is None else Picked(at)
            else:
                text = self.typed(name, default).strip()
                picked = read_instant(text, self.zones[0], name) if text else None
        except InvalidError as error:
            # The field already shows the error.
            return "" if name in self.wrong else without_field(error, name)
        return "" if picked is None else in_full(picked, self.zones[0], self.visit.clock.now)

    def instant(self, name: str, *, choice: str) -> datetime | None:
        """Return the instant of a list of choices or of its field; None for no end."""
        match self._choice(name, choice):
            case "":
                return None
            case "now":
                # The store refuses past instants, and the request takes a moment.
                return self._from_now(seconds=NOW_SECONDS)
            case "30m":
                return self._from_now(minutes=30)
            case "1h":
                return self._from_now(hours=1)
            case "tomorrow":
                return tomorrow_at(TOMORROW_HOUR, self.visit.clock.now, self.zones[0])
            case "pick":
                return self.picked(name).at
        raise InvalidError("Choose one of the options.", field=choice)

    def _choice(self, name: str, choice: str) -> str:
        # Without scripts, input into a field does not select its choice.
        return self.typed(choice) or ("pick" if self.typed(name).strip() else "")

    def _from_now(self, **duration: float) -> datetime:
        return self.visit.clock.now.replace(microsecond=0) + timedelta(**duration)

    def number(self, name: str, words: str, *, maximum: int, empty: int | None = None) -> int | None:
        """Parse a whole number of at least 1; `empty` if the field is empty."""
        text = self.typed(name).strip()
        if not text:
            return empty
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:12]) <= maximum or len(text) > 12:
            raise InvalidError(f"{words}: enter a whole number from 1 to {maximum:,}.", field=name)
        return int(text)

    def payload(self, name: str = "payload") -> Mapping[str, Any] | None:
        """Parse a payload; None if the field is empty."""
        text = self.typed(name)
        payload, why = read_object(text)
        if why:
            raise InvalidError(why, field=name)
        return payload if text.strip() else None

    def cli_instant(self, name: str, *, choice: str) -> str | None:
        """Return an instant for the command line, relative if the choice is relative."""
        words = {"now": "now", "30m": "30m", "1h": "1h", "tomorrow": f"tomorrow {TOMORROW_HOUR:02d}:00 {self.zones[0]}"}
        chosen = self._choice(name, choice)
        if chosen in words:
            return words[chosen]
        try:
            return utc_text(self.picked(name).at) if chosen == "pick" else None
        except InvalidError:
            return "INSTANT"

    def cli_note(self, *, required: bool = False) -> Sequence[str]:
        return ("--note", self.note or "…") if self.note or required else ()
