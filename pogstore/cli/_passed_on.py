"""The exit status of a command that we ran for somebody, as opposed to one of our own."""


class PassedOn(int):
    """A status that is passed on as it is, 2 included: see `docs/decisions/`."""
