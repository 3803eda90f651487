"""An upload: a log or list from a page or a program, checked and put where sources lie."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, BinaryIO

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rehi.app import House
from rehi.errors import SourceError
from rehi.model.media import bare_name
from rehi.model.source import Source
from rehi.operations import sources
from rehi.operations.operation import read_signature
from rehi.operations.source_rows import SourceRow
from rehi.serve.problem_details import BadRequest, WrongParameter
from rehi.serve.rendering import house_of
from rehi.serve.request_parameters import read_json, refuse_unknown

FIELDS = ("file", "start")
LONGEST_NAME = 200  # bytes; file systems take 255


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadForm:
    """The fields of a form that uploads a source."""

    file: Annotated[bytes, Field(description="A crawl log, a list of URLs or a WARC file.")]
    start: Annotated[str, Field(description="Begin at once, if this is there at all.")] = ""


async def add_source(request: Request) -> SourceRow:
    """Add a source: a file as the field ``file`` of a multipart form, or JSON with the address of a file or a page."""
    if _is_form(request):
        return await _receive(request)
    service = request.app.state.service
    parameters = await read_json(request, read_signature(sources.add_source))
    return await run_in_threadpool(sources.add_source, service, **parameters)


async def upload_form(request: Request) -> Response:
    """Take the upload form, and show the source's page next, or the sentence that says why not."""
    if not _is_form(request):
        raise HTTPException(415, "send the file as multipart/form-data")
    source = await _receive(request)
    return RedirectResponse(f"/sources/{source.id}", status_code=303)


def _is_form(request: Request) -> bool:
    return bare_name(request.headers.get("content-type", "")) == "multipart/form-data"


async def _receive(request: Request) -> SourceRow:
    """Take the file in, and start it if the field ``start`` is there."""
    house = house_of(request)
    limit = house.settings.serve.max_upload
    length = request.headers.get("content-length", "")
    if not length.isdecimal():
        raise HTTPException(411, "say how long the upload is")
    if int(length) > limit:
        raise HTTPException(413, f"the upload has {int(length):,} bytes; serve.max_upload allows {limit:,}")
    async with _parse(request) as form:
        refuse_unknown([name for name, _ in form.multi_items()], FIELDS, status=422)
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            detail = "choose a file: the form's field is called file"
            raise BadRequest(422, [WrongParameter(name="file", detail=detail)])
        source = await run_in_threadpool(_store, house, file.filename, file.file)
        start = "start" in form
    if start:
        await run_in_threadpool(request.app.state.service.start_source, source.id)
    return await run_in_threadpool(sources.get_source, house, source_id=source.id)


@asynccontextmanager
async def _parse(request: Request) -> AsyncIterator[FormData]:
    """Have the form, whose files are closed after that; also one that breaks off, which is in no form and stays open."""
    parser = MultiPartParser(request.headers, request.stream(), max_files=1, max_fields=5)
    try:
        yield await parser.parse()
    except MultiPartException as error:
        raise HTTPException(400, error.message) from error
    finally:
        for file in parser._files_to_close_on_error:
            file.close()


def _store(house: House, given: str, body: BinaryIO) -> Source:
    name = re.sub(r"[^\w. -]+", "-", given.replace("\\", "/").rpartition("/")[2])
    name = name.encode()[-LONGEST_NAME:].decode(errors="ignore").strip(". ") or "upload.log"
    path = sources.upload_folder(house) / name
    if path.exists():
        raise HTTPException(409, f"there is a source called {name} already; rename the file to add it again")
    partial = path.with_name(f".{name}.part")
    with partial.open("wb") as file:
        shutil.copyfileobj(body, file, 1 << 20)
    partial.rename(path)
    try:
        return sources.enter_file(house, path, name=name)
    except SourceError as error:
        path.unlink()
        raise SourceError(str(error).replace(str(path), name)) from error
