"""The `tickbird` program, also `python -m tickbird`. An interrupt during loading prints no traceback."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    try:
        from tickbird.cli import main as program

        program()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
