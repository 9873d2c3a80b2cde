"""The error for a fault that this machine cannot inject."""


class MissingRequirement(RuntimeError):
    """A program or a permission that a fault needs is missing; the message names it."""
