"""A peer: aiohttp with warcio, as somebody would write a crawler of their own. Run by the Python of the peers' environment.

    python -m bench.fetch_aiohttp URLS FOLDER REPORT LEVEL

One connection to each host and no delay, robots.txt obeyed, uvloop. Of each page a request and a response record go into a
WARC file by warcio's writer, with our compressor at our level and SHA-256, and an item with URL, digest, version, title and
text into a file of JSON lines; text and title by the library that we use. Every 50 pages both files are brought to disk.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
import time
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp  # type: ignore[import-not-found,unused-ignore]
import uvloop  # type: ignore[import-not-found,unused-ignore]
from protego import Protego  # type: ignore[import-not-found,import-untyped,unused-ignore]
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree
from warcio.statusandheaders import StatusAndHeaders

from bench.warcio_writer import open_writer

CONNECTIONS = 256
BATCH = 50  # pages that are brought to disk together, as many as we record at once
AGENT = "rehi-bench"


class PageStore:
    """A WARC file and a file of items."""

    def __init__(self, folder: Path, level: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._warc = (folder / "pages.warc.gz").open("wb", buffering=1 << 20)
        self._items = (folder / "items.jsonl").open("wb", buffering=1 << 20)
        self._writer = open_writer(self._warc, level=level)
        self._versions: dict[str, int] = {}
        self.pages = 0

    def keep(self, url: str, answer: Any, body: bytes) -> None:
        """Write the records and the item of a page; all is on disk after every batch."""
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.raw_headers]
        asked = [(name, value) for name, value in answer.request_info.headers.items()]
        response = self._writer.create_warc_record(
            url, "response", payload=io.BytesIO(body), length=len(body),
            http_headers=StatusAndHeaders(f"{answer.status} {answer.reason}", headers, protocol="HTTP/1.1"),
        )  # fmt: skip
        request = self._writer.create_warc_record(
            url, "request", payload=io.BytesIO(), length=0,
            http_headers=StatusAndHeaders(f"GET {urlsplit(url).path} HTTP/1.1", asked, is_http_request=True),
        )  # fmt: skip
        self._writer.write_request_response_pair(request, response)
        self._items.write(json.dumps(self._item(url, answer, body), ensure_ascii=False).encode() + b"\n")
        self.pages += 1
        if self.pages % BATCH == 0:
            self.sync()

    def sync(self) -> None:
        """Bring both files to disk."""
        for file in (self._warc, self._items):
            file.flush()
            os.fsync(file.fileno())

    def _item(self, url: str, answer: Any, body: bytes) -> dict[str, Any]:
        number = self._versions[url] = self._versions.get(url, 0) + 1
        tree = HTMLTree.parse(body.decode("utf-8"))
        return {
            "url": url,
            "taken_at": datetime.now(UTC).isoformat(),
            "digest": f"sha256:{sha256(body).hexdigest()}",
            "version": number,
            "media_type": answer.headers["Content-Type"],
            "title": tree.title,
            "text": extract_plain_text(tree, main_content=True, links=False, list_bullets=False, alt_texts=True),
        }


async def crawl(urls: list[str], store: PageStore) -> None:
    """Visit every URL once: a task for each host, and one request at a time to each."""
    hosts: dict[str, list[str]] = {}
    for url in urls:
        hosts.setdefault("/".join(url.split("/")[:3]), []).append(url)
    connector = aiohttp.TCPConnector(limit=CONNECTIONS, limit_per_host=1)
    async with aiohttp.ClientSession(connector=connector, headers={"User-Agent": AGENT}) as session:
        await asyncio.gather(*(_visit_host(session, host, pages, store) for host, pages in hosts.items()))
    store.sync()


async def _visit_host(session: Any, host: str, urls: list[str], store: PageStore) -> None:
    async with session.get(f"{host}/robots.txt") as answer:
        robots = Protego.parse(await answer.text() if answer.status == 200 else "")
    for url in urls:
        if robots.can_fetch(url, AGENT):
            async with session.get(url) as answer:
                store.keep(url, answer, await answer.read())


def main(urls: str, folder: str, report: str, level: str) -> None:
    """Crawl, and say when that began and ended."""
    pages = Path(urls).read_text(encoding="utf-8").split()
    idle_cpu, began = time.process_time(), time.time()
    store = PageStore(Path(folder), int(level))
    uvloop.run(crawl(pages, store))
    numbers = {"began": began, "ended": time.time(), "idle_cpu": idle_cpu, "documents": store.pages}
    Path(report).write_text(json.dumps(numbers), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
