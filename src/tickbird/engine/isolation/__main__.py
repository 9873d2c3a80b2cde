"""`python -m tickbird.engine.isolation MODULE:BIRD WORKER CHANNEL`: started by workers, not by people."""

from __future__ import annotations

import sys

from tickbird.engine.isolation.keeper import main

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
