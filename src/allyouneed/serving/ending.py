"""The end of a service: what runs is finished before, within one budget of time."""

import time
from weakref import WeakSet

from allyouneed.serving.refusal import Refused
from allyouneed.serving.visit import Visit

# Together less than the 40 s after which the files in deploy/ have the process killed.
FINISH_SECONDS = 30.0  # for what runs when the service is told to end
ANSWER_SECONDS = 3  # for the answers to requests that were not finished
CREW_SECONDS = 3.0  # for the workers' last batches
RETRY_SECONDS = 5  # until another process answers here, where one takes this one's place


class Ending:
    """Knows since when the service is ending, and the visits that it gives up at last.

    `since` is the time (as `time.monotonic` counts) at which it was told to end; None before.
    """

    def __init__(self) -> None:
        self.since: float | None = None
        self._visits: WeakSet[Visit] = WeakSet()

    @property
    def is_due(self) -> bool:
        """Whether the time for what runs is up."""
        return self.since is not None and time.monotonic() - self.since > FINISH_SECONDS

    def begin(self) -> None:
        """Takes note of the time; a second call changes nothing."""
        self.since = self.since or time.monotonic()

    def watch(self, visit: Visit) -> None:
        """Adds a visit to those that are given up at last."""
        self._visits.add(visit)

    def give_up(self) -> None:
        """Ends all visits: their requests are refused, and their sentences leave the queue."""
        for visit in [*self._visits]:
            visit.stop(refusal())


def refusal() -> Refused:
    """The answer to a request that a service refuses because it is ending."""
    return Refused(503, "the service is ending; try again later", RETRY_SECONDS)
