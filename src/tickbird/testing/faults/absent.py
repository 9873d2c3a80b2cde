"""What this machine lacks for a fault."""


class Absent(RuntimeError):
    """A program or a right that a fault needs is not there; the message says which."""
