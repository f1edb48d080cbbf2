"""The answer to a request that gets no translation: a status and a sentence."""


class Refused(Exception):
    """A request that is not served. `reason` is shown to the client, so it holds no path and no
    text of anybody; `retry_after` are whole seconds after which another try may do."""

    def __init__(self, status: int, reason: str, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class ClientGone(Exception):
    """The client hung up; nobody reads an answer."""
