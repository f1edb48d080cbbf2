"""Log lines: for people, or one JSON object a line for programs."""

import json
import logging
import time
from typing import TextIO


class Lines(logging.Formatter):
    """`12:00:01 POST /translate  status=200 ms=8.1 ...`"""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        told = " ".join(f"{name}={value}" for name, value in _told(record).items())
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        line = f"{clock} {record.getMessage()}" + (f"  {told}" if told else "")
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonLines(logging.Formatter):
    """The same as JSON objects, with `time` and `level`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **_told(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def _told(record: logging.LogRecord) -> dict[str, object]:
    told = dict(getattr(record, "told", {}))
    if place := getattr(record, "place", None):
        told["place"] = place
    return told


def log_to(stream: TextIO, as_json: bool) -> logging.Handler:
    """Sends the logs of the service and of its HTTP server to a stream. Returns the handler that
    writes there."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if as_json else Lines())
    for name in ("allyouneed.serving", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name.startswith("allyouneed") else logging.WARNING)
    return handler
