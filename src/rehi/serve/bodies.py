"""A request's body: bounded, and parsed at the door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

LARGEST = 65_536  # bytes; uploads have a way of their own
MOST_FIELDS = 20
LARGEST_ID = 2**63 - 1

_STRICT = ConfigDict(extra="forbid", frozen=True)


class NewSource(BaseModel):
    """A source by its address."""

    model_config = _STRICT

    source: str = ""
    start: bool = True


class NewPolicy(BaseModel):
    """When a source's pages are visited again."""

    model_config = _STRICT

    policy: str | None = Field(None, max_length=200)
    priority: str | None = Field(None, max_length=20)


class NewKeep(BaseModel):
    """Which versions of a source's pages are kept."""

    model_config = _STRICT

    keep: str = Field(max_length=200)


class NewOrders(BaseModel):
    """What is ordered for a host; what is left out stays as it is."""

    model_config = _STRICT

    delay: float | None = None
    connections: int | None = None
    hours: str | None = Field(None, max_length=200)
    left_alone: bool | None = None
    why: str = Field("", max_length=200)


class NewUpdate(BaseModel):
    """What is to be visited now: everything, or one of these."""

    model_config = _STRICT

    source: int | None = Field(None, ge=1, le=LARGEST_ID)
    host: str = Field("", max_length=300)
    url: str = Field("", max_length=10_000)


Body = TypeVar("Body", bound=BaseModel)


async def read_json(request: Request, kind: type[Body]) -> Body:
    """A JSON object as what it is meant to be; no body at all is an empty one."""
    body = await _read(request)
    try:
        return kind.model_validate_json(body or b"{}")
    except ValidationError as error:
        raise _complaint(error) from error


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a plain form."""
    try:
        pairs = parse_qsl((await _read(request)).decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(400, "this is not a form that was sent from a page") from error
    return dict(pairs)


def parse(kind: type[Body], fields: Mapping[str, object]) -> Body:
    """The fields of a form as what they are meant to be."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise _complaint(error) from error


def _complaint(error: ValidationError) -> HTTPException:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return HTTPException(422, f"{where}: {first['msg'].lower()}" if where else first["msg"].lower())


async def _read(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            raise HTTPException(413, f"this takes no more than {LARGEST:,} bytes")
    return body
