"""An upload: a log that came from the page, checked and put where sources lie."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from rehi.app import House
from rehi.desk.adding import enter_file, upload_folder
from rehi.errors import SourceError
from rehi.model.source import Source


async def receive(request: Request, house: House) -> tuple[Source, bool]:
    """Take the multipart field ``file``; the source, and whether it is to start at once."""
    limit = house.settings.serve.max_upload
    length = request.headers.get("content-length", "")
    if not length.isdecimal():
        raise HTTPException(411, "say how long the upload is")
    if int(length) > limit:
        raise HTTPException(413, f"the upload has {int(length):,} bytes; serve.max_upload allows {limit:,}")
    async with request.form(max_files=1, max_fields=5) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise HTTPException(400, "choose a file: the form's field is called file")
        source = await run_in_threadpool(_store, house, file.filename, file.file)
        return source, form.get("start") is not None


def _store(house: House, given: str, body: BinaryIO) -> Source:
    name = re.sub(r"[^\w. -]+", "-", Path(given.replace("\\", "/")).name).strip(". ")[-120:] or "upload.log"
    path = upload_folder(house) / name
    if path.exists():
        raise HTTPException(409, f"there is a source called {name} already; rename the file to add it again")
    partial = path.with_name(f".{name}.part")
    with partial.open("wb") as file:
        shutil.copyfileobj(body, file, 1 << 20)
    partial.rename(path)
    try:
        return enter_file(house, path, name=name)
    except SourceError:
        path.unlink()
        raise
