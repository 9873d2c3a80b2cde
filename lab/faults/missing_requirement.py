"""The error of a fault that this machine cannot make."""


class MissingRequirement(RuntimeError):
    """A program or a permission that a fault needs is missing; the message says which."""
