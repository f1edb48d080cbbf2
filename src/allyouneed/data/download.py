"""Downloads files over HTTP, resumes broken downloads, and checks checksums."""

import hashlib
import time
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from allyouneed.data.lock import locked
from allyouneed.data.published import DataSet
from allyouneed.errors import DataError, UsageError
from allyouneed.files import put_in_place

TRIES = 5
WAIT_S = 1.0  # seconds before the second try; doubled before each further one
TIMEOUT_S = 30.0  # seconds without a byte
BLOCK = 1 << 16
PARTIAL = ".partial"
LOCK = ".lock"  # a file in the folder of the downloads

# (name of the file, bytes received, bytes of the whole file or None while unknown)
Progress = Callable[[str, int, int | None], None]


class BrokenTransferError(Exception):
    """A transfer failed for a reason that may be temporary."""


def fetch(data_set: DataSet, folder: Path, address: str | None, progress: Progress) -> list[Path]:
    """Downloads the files of a data set to `folder`/NAME and returns their paths. Files that exist
    are not downloaded again.

    `address` is the address of a mirror to use instead of the publisher's.

    Raises:
        UsageError: the address does not begin with http:// or https://.
        DataError: a file cannot be downloaded or written, or has another checksum than the
            published file.
    """
    address = (address or data_set.address).rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise UsageError(f"{address} is not a web address; give http://... or https://...")
    paths = []
    for file in data_set.files:
        path = folder / data_set.name / file.name
        download(f"{address}/{file.name}", path, file.checksum, progress)
        paths.append(path)
    return paths


def download(url: str, path: Path, checksum: str, progress: Progress) -> None:
    """Downloads one file, unless it exists. `checksum` is `algorithm:hex`.

    An incomplete file is called .partial. A later call resumes it if the server supports HTTP
    ranges, and otherwise starts again. A second process waits for the first and uses its file.

    Raises:
        DataError: see `fetch`.
    """
    try:
        if path.exists():
            _check_same(path, url, checksum)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        waiting = f"{path.name} (another process is downloading it)"
        with locked(path.parent / LOCK, lambda: progress(waiting, 0, None)):
            if not path.exists():
                _bring(url, path, checksum, progress)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}; free some space, or choose another "
            "folder with --into"
        ) from error


def _bring(url: str, path: Path, checksum: str, progress: Progress) -> None:
    partial = path.with_name(path.name + PARTIAL)
    if partial.exists():
        _transfer(url, partial, progress)
        if _digest(partial, checksum) != checksum:
            partial.unlink()  # the partial file belonged to another version: start again
    if not partial.exists():
        _transfer(url, partial, progress)
    if (found := _digest(partial, checksum)) != checksum:
        partial.unlink()
        raise DataError(
            f"{url}: the downloaded file has the checksum {found}, not {checksum}: it was damaged "
            "in transfer, or the publisher changed it; try again, or name a mirror with --from"
        )
    put_in_place(partial, path)


def _check_same(path: Path, url: str, checksum: str) -> None:
    found = _digest(path, checksum)
    if found != checksum:
        raise DataError(
            f"{path} is not the file of {url}: its checksum is {found}, not {checksum}; move it "
            "away to download the published file, or choose another folder with --into"
        )


def _digest(path: Path, checksum: str) -> str:
    """The checksum of a file, by the algorithm that `checksum` names."""
    algorithm = checksum.partition(":")[0]
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False))
    return f"{algorithm}:{digest.hexdigest()}"


def _transfer(url: str, partial: Path, progress: Progress) -> None:
    """Downloads the missing part of a file, in several tries.

    Raises:
        DataError: the last try failed.
    """
    for attempt in range(TRIES):
        if attempt:
            time.sleep(WAIT_S * 2 ** (attempt - 1))
        try:
            return _request(url, partial, progress)
        except BrokenTransferError as error:
            problem = error
    held = partial.stat().st_size if partial.exists() else 0
    raise DataError(
        f"{url}: {problem}, {TRIES} times; {held:,} bytes are kept, and the same command resumes "
        "there"
    )


def _request(url: str, partial: Path, progress: Progress) -> None:
    """Requests the missing part of a file once.

    Raises:
        BrokenTransferError: the transfer ended early.
    """
    held = partial.stat().st_size if partial.exists() else 0
    headers = {"User-Agent": "allyouneed", **({"Range": f"bytes={held}-"} if held else {})}
    try:
        with _opened(Request(url, headers=headers)) as response:
            goes_on = response.status == HTTPStatus.PARTIAL_CONTENT
            if not goes_on:
                held = 0
            whole = held + response.length if response.length is not None else None
            with partial.open("ab" if goes_on else "wb") as file:
                _copy(response, file, lambda done: progress(partial.stem, held + done, whole))
            if whole is not None and partial.stat().st_size < whole:
                raise BrokenTransferError("the transfer broke off")
    except HTTPError as error:
        error.close()
        if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and held:
            return  # the server says that nothing is missing; the checksum decides
        if error.code == HTTPStatus.TOO_MANY_REQUESTS or error.code >= 500:
            raise BrokenTransferError(f"the server answers {error.code} {error.reason}") from error
        raise DataError(
            f"{url}: the server answers {error.code} {error.reason}; name a mirror with --from"
        ) from error


def _opened(request: Request) -> HTTPResponse:
    try:
        response: HTTPResponse = urlopen(request, timeout=TIMEOUT_S)
    except HTTPError:
        raise
    except (ValueError, InvalidURL) as error:  # raised before a connection: the address is invalid
        raise UsageError(
            f"{request.full_url!r} is not a valid address ({error}); correct --from"
        ) from error
    except (URLError, HTTPException, ConnectionError, TimeoutError) as error:
        reason = getattr(error, "reason", None) or error
        raise BrokenTransferError(f"no connection ({reason})") from error
    return response


def _copy(response: HTTPResponse, file: IO[bytes], done: Callable[[int], None]) -> None:
    """Copies the response to the file. Errors of the connection become BrokenTransferError; errors
    of the disk remain OSError."""
    count = 0
    while True:
        try:
            block = response.read(BLOCK)
        except (HTTPException, OSError) as error:
            raise BrokenTransferError(f"the transfer broke off ({error})") from error
        if not block:
            return
        file.write(block)
        count += len(block)
        done(count)
