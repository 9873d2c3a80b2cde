"""An example package that adds a target kind: echo."""

from .spec import EchoSpec

__all__ = ["EchoSpec"]
