"""The `tickbird` program, also as `python -m tickbird`: an interrupt while it loads is as quiet as one later."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Load the command line, and run it."""
    try:
        from tickbird.cli import main as program

        program()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
