"""What a worker tells others through the store when it holds back."""

from __future__ import annotations

from typing import Final

CLOCK_JUMPED: Final = "the store's clock has jumped"
