"""The guard: keys, and limits of requests and characters."""

from starlette.requests import Request

from allyouneed.serving.keys import Key, Keyring
from allyouneed.serving.metrics import Metrics
from allyouneed.serving.refusal import Refused
from allyouneed.serving.visit import Visit, address, place_in_queue

NO_KEY = "Please contact the server operator to get an API key"
WRONG_KEY = "Invalid API key"
ROUNDS = 2  # of the event loop, until it has read a request, and until it has sent an answer
USED_UP = "the characters of this API key are used up for this month"


class Guard:
    """Admits requests, with a key where keys are needed, and counts what they use.

    `lag` is the delay of the event loop in seconds. A request waits for two rounds of the loop
    before the guard sees it, and its answer for two more. Both count towards its deadline.
    """

    def __init__(self, keyring: Keyring, metrics: Metrics, patience: float) -> None:
        self.keyring = keyring
        self.metrics = metrics
        self.patience = patience
        self.lag = 0.0

    def admit(self, request: Request, presented: str | None = None) -> Visit:
        """The visit of a request. Its key is `presented`, or stands in the Authorization header.

        Raises:
            Refused: 400 without a key where one is needed, 403 with a wrong one, 429 for too many
                requests of this client in this minute.
        """
        key = self.key_of(request, presented)
        # A limit for connections would be none, because a client may open any number of them.
        limited = key.name if key else address(request)
        most = key.requests if key else self.keyring.requests_per_minute
        wait = self.keyring.seconds_to_wait(limited, most)
        if wait:
            self.metrics.rejected.labels("limit").inc()
            raise Refused(429, f"Slowdown: {most} per 1 minute", wait)
        client = key.name if key else place_in_queue(request)
        visit = Visit.of(request, client, self.patience, key)
        visit.until -= ROUNDS * self.lag
        visit.to_answer = ROUNDS * self.lag
        request.scope["visit"] = visit
        return visit

    def key_of(self, request: Request, presented: str | None = None) -> Key | None:
        """The key of a request; None where it has none and needs none.

        Raises:
            Refused: as `admit`.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        presented = presented or (token if scheme in ("DeepL-Auth-Key", "Bearer") else "")
        key = self.keyring.find(presented.strip()) if presented else None
        if key is None and self.keyring.needed:
            raise Refused(403, WRONG_KEY) if presented else Refused(400, NO_KEY)
        return key

    def charge(self, visit: Visit) -> None:
        """Counts the characters of a visit to its key.

        Raises:
            Refused: they are more than the key has left for this month.
        """
        if visit.key is None:
            return
        if visit.key.characters is not None:
            used, _ = self.keyring.used(visit.key)
            if used + visit.characters > visit.key.characters:
                self.metrics.rejected.labels("characters").inc()
                raise Refused(456, USED_UP)
        self.keyring.count(visit.key, visit.characters)
        visit.charged = visit.characters

    def give_back(self, visit: Visit) -> None:
        """Takes back what a visit was charged, because it got no translation. A visit is charged
        before it is served: requests at the same time could otherwise pass the limit together."""
        if visit.key is not None and visit.charged is not None:
            self.keyring.count(visit.key, -visit.charged, -1)
            visit.charged = None
