"""An example of a package that adds a kind of target: echo."""

from .spec import EchoSpec

__all__ = ["EchoSpec"]
