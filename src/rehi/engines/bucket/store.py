"""The object store: the operations on a bucket, with its errors translated to ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urlsplit

from rehi.errors import ArchiveAway, ArchiveRefuses, EngineError, RecordMissing, SettingsError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

READ_TIMEOUT = (
    "30s"  # for a window of a file at most; a document must not be blamed for a store that hangs (work.timeout)
)
WRITE_TIMEOUT = "15min"  # the store's own copy of a file of some GB is one request
PARTS_AT_ONCE = 4
_ENDPOINT = {
    "s3": "endpoint",
    "gs": "base_url",
    "az": "endpoint",
}  # the name of the option for the address, by kind of store
_BUCKET = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}")
_PREFIX = re.compile(r"(/[A-Za-z0-9_=+-][A-Za-z0-9._=+-]*)*/?")
_STATUS = re.compile(r"status code: ([1-5][0-9]{2}[A-Za-z ]{0,40})")
# Answers of a store that is overloaded, starting or broken; any other says that the question is wrong, or who asks.
_PASSING = ("408", "425", "429", "500", "502", "503", "504", "507", "509", "52", "53")
_CODE = re.compile(r"<Code>([A-Za-z0-9.]{1,60})</Code>")


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object in the bucket."""

    name: str
    size: int
    etag: str  # without quotes; empty if the store gives none
    changed_at: datetime


class Store:
    """A bucket and a prefix in it. Making one sends no request. Many threads may use it, but not after a fork."""

    def __init__(self, uri: str, *, endpoint: str = "", region: str = "") -> None:
        self.uri = check_uri(uri)
        self._options = (self.uri, endpoint, region)

    def find(self, name: str) -> StoredObject | None:
        """Return the object of that name; None if there is none."""
        from obstore import head

        with self._translating(f"looking for {name}"):
            try:
                return _stored_object(head(self._reading, name))
            except FileNotFoundError:
                return None

    def list(self, folder: str = "") -> list[StoredObject]:
        """Return the objects right under the prefix, or right under a folder there."""
        from obstore import list_with_delimiter

        with self._translating("listing its files"):
            listed = list_with_delimiter(self._reading, folder or None)
        objects = [_stored_object(meta) for meta in listed["objects"]]
        return [item for item in objects if item.name != folder]  # some stores list the folder in itself

    def walk(self, folder: str = "") -> Iterator[StoredObject]:
        """Yield the objects below the prefix or a folder there, at any depth."""
        from obstore import list as list_objects

        with self._translating("listing its files"):
            for batch in list_objects(self._reading, folder or None):
                for meta in batch:
                    yield _stored_object(meta)

    def read(self, name: str, start: int, end: int) -> tuple[memoryview, int]:
        """Return a range of an object, cut at the object's end, and the size of the whole object."""
        from obstore import get
        from obstore.exceptions import GenericError

        with self._translating(f"reading {name}"):
            try:
                result = get(self._reading, name, options={"range": (start, end)})
                return memoryview(result.bytes()), int(result.meta["size"])
            except FileNotFoundError as error:
                raise RecordMissing(f"{name} is neither in the data folder nor in {self.uri}") from error
            except GenericError as error:
                if "status code: 416" in str(error):
                    raise RecordMissing(f"{name} ends before {start}") from None
                raise

    def create(self, name: str, content: bytes) -> bool:
        """Write an object unless there is one of that name; return whether it was written."""
        from obstore import put
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._translating(f"writing {name}"):
            try:
                put(self._writing, name, content, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return False
            return True

    def write(self, name: str, content: bytes) -> None:
        """Write an object; one of that name is replaced."""
        from obstore import put

        with self._translating(f"writing {name}"):
            put(self._writing, name, content, use_multipart=False)

    def write_parts(self, name: str, file: BinaryIO, *, part: int) -> None:
        """Write an object from a file, in parts; none of it is visible before the last is there."""
        from obstore import put

        file.seek(0)
        with self._translating(f"writing {name}"):
            put(self._writing, name, file, use_multipart=True, chunk_size=part, max_concurrency=PARTS_AT_ONCE)

    def copy_new(self, source: str, name: str) -> bool:
        """Copy an object inside the store unless there is one of that name; return whether it was copied."""
        from obstore import copy
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._translating(f"writing {name}"):
            try:
                copy(self._writing, source, name, overwrite=False)
            except (AlreadyExistsError, PreconditionError):
                return False
            return True

    def delete(self, name: str) -> None:
        """Delete an object, if there is one of that name."""
        from obstore import delete

        with self._translating(f"removing {name}"):
            try:
                delete(self._reading, name)
            except FileNotFoundError:
                return

    @property
    def _reading(self) -> ObjectStore:
        return _connect(*self._options, READ_TIMEOUT)

    @property
    def _writing(self) -> ObjectStore:
        return _connect(*self._options, WRITE_TIMEOUT)

    @contextmanager
    def _translating(self, action: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as error:
            raise ArchiveRefuses(f"{self.uri}: {action} failed: there is no such bucket") from error
        except BaseError as error:
            kind, why = _judge(error)
            # Without its cause: the library's own message holds whole URLs, and with them some stores' tokens.
            raise kind(f"{self.uri}: {action} failed: {why}") from None


def check_uri(uri: str) -> str:
    """Return a bucket's URI without a slash at its end; SettingsError if it is wrong, or names more than bucket and prefix."""
    try:
        parts = urlsplit(uri)
        extra = parts.query or parts.fragment or parts.username or parts.password or parts.port
    except ValueError:
        raise SettingsError("archive.uri is no address; it is of the form s3://bucket/prefix") from None
    if extra:
        raise SettingsError(
            "archive.uri names a bucket and a prefix only, as in s3://bucket/prefix; credentials go into the environment"
        )
    if not _BUCKET.fullmatch(parts.netloc) or not _PREFIX.fullmatch(parts.path):
        raise SettingsError(
            "archive.uri must be of the form s3://bucket/prefix, with letters, digits, dots and dashes in its names"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


@lru_cache(
    maxsize=8
)  # worker processes open the archive for every few documents, and a client costs 5 ms and its connections
def _connect(uri: str, endpoint: str, region: str, timeout: str) -> ObjectStore:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as error:
        raise EngineError(f'{uri} needs the object store\'s library: install "rehi[s3]"') from error

    scheme = uri.partition(":")[0]
    options: dict[str, Any] = {_ENDPOINT[scheme]: endpoint} if endpoint else {}
    if scheme == "s3":
        # One request for each removal is understood by every store; without the other, S3 has no conditional copy.
        options |= {"disable_bulk_delete": True, "copy_if_not_exists": "multipart"}
        if region:
            options["region"] = region
    client: dict[str, Any] = {"timeout": timeout, "connect_timeout": "5s", "user_agent": "rehi"}
    if endpoint.startswith("http://"):
        client["allow_http"] = True
    try:
        # Typed for each kind of store by itself, which is known only now.
        opened: ObjectStore = from_url(uri, client_options=client, retry_config=_retries(), **options)  # type: ignore[call-overload]
    except (BaseError, ValueError):  # the library's message may show what is in the environment
        raise SettingsError(
            f"{uri} can't be opened: look at archive.endpoint, archive.region and the credentials in the environment"
        ) from None
    return opened


def _retries() -> dict[str, Any]:
    from datetime import timedelta

    backoff = {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=2), "base": 2}
    return {"max_retries": 2, "retry_timeout": timedelta(seconds=15), "backoff": backoff}


def _stored_object(meta: Any) -> StoredObject:
    return StoredObject(str(meta["path"]), int(meta["size"]), (meta["e_tag"] or "").strip('"'), meta["last_modified"])


def _judge(error: Exception) -> tuple[type[ArchiveAway], str]:
    """Return whether the store may well do it in a moment, or refuses for good as far as can be told; and why."""
    from obstore.exceptions import NotSupportedError, PermissionDeniedError, UnauthenticatedError

    message = str(error)
    status, code = _STATUS.search(message), _CODE.search(message)
    answer = " ".join(match[1].strip() for match in (status, code) if match)
    if "TimeTooSkewed" in answer:
        return ArchiveRefuses, f"its clock and this machine's differ too much ({answer})"
    if isinstance(error, PermissionDeniedError | UnauthenticatedError) or answer.startswith(("401", "403")):
        return ArchiveRefuses, f"it refuses the credentials ({answer or 'no access'})"
    if isinstance(error, NotSupportedError):
        return ArchiveRefuses, "the store can't do that"
    if "NoSuchBucket" in answer:
        return ArchiveRefuses, "there is no such bucket"
    if answer:
        return ArchiveAway if answer.startswith(_PASSING) else ArchiveRefuses, f"it answered {answer}"
    message = message.lower()
    if "credential" in message or "169.254.169.254" in message:
        return ArchiveRefuses, "there are no credentials in the environment"
    if "dns error" in message or "failed to lookup" in message:
        return ArchiveRefuses, "nobody knows a machine of that name"
    return (
        ArchiveAway,
        "it took too long" if "timed out" in message or "timedout" in message else "nobody answers there",
    )
