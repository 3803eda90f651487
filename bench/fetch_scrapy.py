"""The peer: Scrapy as a careful engineer would run it. Run by the Python of Scrapy's own environment.

    python -m bench.fetch_scrapy URLS FOLDER REPORT sane|stripped

Each page becomes an item with its URL, digest, version, title and text in a feed of JSON lines. ``sane`` is fast settings
that still follow redirects, retry and count, as a crawler of the open web must and as rehi does. ``stripped`` does nothing
but fetch what is there, by a download handler that Scrapy calls experimental: less than the same work, for comparison.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import scrapy  # type: ignore[import-not-found,unused-ignore]
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree
from scrapy.crawler import AsyncCrawlerProcess  # type: ignore[import-not-found,unused-ignore]

_UNNEEDED = (
    "offsite.OffsiteMiddleware", "httpauth.HttpAuthMiddleware", "retry.RetryMiddleware",
    "redirect.MetaRefreshMiddleware", "redirect.RedirectMiddleware", "cookies.CookiesMiddleware",
    "httpproxy.HttpProxyMiddleware", "stats.DownloaderStats", "httpcache.HttpCacheMiddleware",
)  # fmt: skip
_UNNEEDED_SPIDER = (
    "referer.RefererMiddleware", "urllength.UrlLengthMiddleware", "depth.DepthMiddleware",
    "metacopy.MetaCopyDetectionMiddleware",
)  # fmt: skip
_UNNEEDED_EXTENSIONS = (
    "corestats.CoreStats", "logcount.LogCount", "telnet.TelnetConsole", "memusage.MemoryUsage", "logstats.LogStats",
    "closespider.CloseSpider", "spiderstate.SpiderState", "throttle.AutoThrottle", "remote_control.RemoteControl",
)  # fmt: skip


class Pages(scrapy.Spider):  # type: ignore[misc,unused-ignore]
    """Visits every URL once."""

    name = "pages"

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self._urls = urls
        self._versions: dict[str, int] = {}

    async def start(self) -> AsyncIterator[Any]:
        """All of them; they are different, so that none need be looked for."""
        for url in self._urls:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Any) -> Iterator[dict[str, Any]]:
        """The item of a page."""
        number = self._versions[response.url] = self._versions.get(response.url, 0) + 1
        tree = HTMLTree.parse(response.body.decode("utf-8"))
        yield {
            "url": response.url,
            "taken_at": datetime.now(UTC).isoformat(),
            "digest": f"sha256:{sha256(response.body).hexdigest()}",
            "version": number,
            "media_type": response.headers["Content-Type"].decode("latin-1"),
            "title": tree.title,
            "text": extract_plain_text(tree, main_content=True, links=False, list_bullets=False, alt_texts=True),
        }


def settings(items: Path, way: str) -> dict[str, Any]:
    """One connection to each host and no delay, robots.txt obeyed, and what costs without helping switched off."""
    sane = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 256,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "USER_AGENT": "rehi-bench",
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "FEEDS": {str(items): {"format": "jsonlines", "encoding": "utf-8"}},
    }
    if way == "sane":
        return sane
    return sane | {
        "RETRY_ENABLED": False,
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        "DOWNLOAD_HANDLERS": {"http": "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"},
        "DOWNLOADER_MIDDLEWARES": {f"scrapy.downloadermiddlewares.{name}": None for name in _UNNEEDED},
        "SPIDER_MIDDLEWARES": {f"scrapy.spidermiddlewares.{name}": None for name in _UNNEEDED_SPIDER},
        "EXTENSIONS": {f"scrapy.extensions.{name}": None for name in _UNNEEDED_EXTENSIONS},
    }


def main(urls: str, folder: str, report: str, way: str) -> None:
    """Crawl, and say when that began and ended."""
    pages = Path(urls).read_text(encoding="utf-8").split()
    items = Path(folder) / "items.jsonl"
    process = AsyncCrawlerProcess(settings(items, way))
    process.crawl(Pages, urls=pages)
    idle_cpu, began = time.process_time(), time.time()
    process.start()
    ended = time.time()
    with items.open("rb") as lines:
        numbers = {"began": began, "ended": ended, "idle_cpu": idle_cpu, "documents": sum(1 for _ in lines)}
    Path(report).write_text(json.dumps(numbers), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
