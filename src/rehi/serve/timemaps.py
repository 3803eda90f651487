"""TimeMaps: all mementos of a URL, written while they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from rehi.model.http import format_http_date
from rehi.operations.byte_stream import batch_lines
from rehi.operations.mementos import Memento, mementos
from rehi.operations.parameters import Url
from rehi.operations.versions import find_url
from rehi.serve.ranges import CarefulStream
from rehi.serve.rendering import house_of
from rehi.serve.webpath import base_of, web_path

_SAFE = "".join(map(chr, range(0x21, 0x7F))).translate({ord(one): None for one in '<>"'})


def get_timemap(request: Request, *, url: Url) -> Response:
    """List all captures of a URL in link format."""
    kept = find_url(house_of(request), url)
    return _stream(_links(base_of(request), kept, mementos(house_of(request), kept)), "application/link-format")


def get_timemap_json(request: Request, *, url: Url) -> Response:
    """List all captures of a URL as JSON, in the words of other web archives."""
    kept = find_url(house_of(request), url)
    return _stream(_json(base_of(request), kept, mementos(house_of(request), kept)), "application/json")


def _stream(lines: Iterable[str], media_type: str) -> Response:
    return CarefulStream(batch_lines(lines), headers={"content-type": media_type})


def reference(url: str) -> str:
    """Return a URL as it may stand between angle brackets."""
    return quote(url, safe=_SAFE)


def _links(base: str, url: str, history: Iterable[Memento]) -> Iterator[str]:
    yield f'<{reference(url)}>; rel="original",\n'
    yield f'<{base}{web_path(url, "timemap/link")}>; rel="self"; type="application/link-format",\n'
    yield f'<{base}{web_path(url)}>; rel="timegate"'
    for memento, first, last in _marked(history):
        role = " ".join([*(["first"] if first else []), *(["last"] if last else []), "memento"])
        yield f',\n<{base}{web_path(url, memento.stamp)}>; rel="{role}"; datetime="{format_http_date(memento.capture.at)}"'
    yield "\n"


def _json(base: str, url: str, history: Iterable[Memento]) -> Iterator[str]:
    import orjson

    shown = {
        "original_uri": url,
        "self": f"{base}{web_path(url, 'timemap/json')}",
        "timegate_uri": f"{base}{web_path(url)}",
        "timemap_uri": {
            "link_format": f"{base}{web_path(url, 'timemap/link')}",
            "json_format": f"{base}{web_path(url, 'timemap/json')}",
        },
    }
    yield f'{orjson.dumps(shown).decode()[:-1]},"mementos":{{"list":['
    ends: dict[str, str] = {}
    for memento, first, last in _marked(history):
        capture = memento.capture
        entry = orjson.dumps(
            {
                "datetime": capture.at.astimezone(UTC).replace(microsecond=0),
                "uri": f"{base}{web_path(url, memento.stamp)}",
                "status": capture.status,
                "outcome": capture.outcome.value,
                "media_type": capture.media_type,
                "digest": capture.digest,
                "size": capture.size,
            },
            option=orjson.OPT_UTC_Z,
        ).decode()
        if first:
            ends["first"] = entry
        if last:
            ends["last"] = entry
        yield f"{'' if first else ','}\n{entry}"
    yield "]" + "".join(f',\n"{name}":{entry}' for name, entry in ends.items()) + "}}\n"


def _marked(history: Iterable[Memento]) -> Iterator[tuple[Memento, bool, bool]]:
    """Yield each memento, and whether it is the first and the last."""
    rest = iter(history)
    held, first = next(rest, None), True
    while held is not None:
        following = next(rest, None)
        yield held, first, following is None
        held, first = following, False
