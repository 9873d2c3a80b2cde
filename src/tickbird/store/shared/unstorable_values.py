"""Values of runs that no store can store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tickbird.domain.errors import InvalidError, TickbirdError
from tickbird.domain.text import describe

# Errors of a value that cannot be encoded or decoded, now or later.
VALUE_ERRORS = (ValueError, TypeError, OverflowError, RecursionError)


def refused_value(error: Exception) -> InvalidError:
    """The error for a batch with a value that can never be stored."""
    return InvalidError(
        f"a value cannot be stored: {describe(error)[:200]}.", hint="Use only values that JSON can represent."
    )


@contextmanager
def refusing_values() -> Iterator[None]:
    """Raise InvalidError for a value that cannot be encoded."""
    try:
        yield
    except TickbirdError:
        raise
    except VALUE_ERRORS as error:
        raise refused_value(error) from None
