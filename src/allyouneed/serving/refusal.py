"""The answer to a request that gets no translation: a status and a sentence."""


class Refused(Exception):
    """A request that is not served. `reason` is shown to the client, so it must not contain paths
    or the texts of users. `retry_after` says after how many seconds the client may try again."""

    def __init__(self, status: int, reason: str, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class ClientGone(Exception):
    """The client has closed the connection and will not read the answer."""
