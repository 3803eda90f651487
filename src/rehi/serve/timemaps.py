"""TimeMaps: all mementos of a URL, written while they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from rehi.desk.mementos import Memento, mementos
from rehi.serve import api
from rehi.serve.ranges import CarefulStream
from rehi.serve.webpath import base_of, http_date, web_path

_BATCH = 500  # mementos that are sent at once
_SAFE = "".join(map(chr, range(0x21, 0x7F))).translate({ord(one): None for one in '<>"'})


def answer(request: Request, url: str, form: str) -> Response:
    """The TimeMap of a URL, in link format or as JSON."""
    found = mementos(api.house_of(request), url)
    write, media_type = (_links, "application/link-format") if form == "link" else (_json, "application/json")
    lines = write(base_of(request), url, found)
    return CarefulStream(batched(lines), headers={"content-type": media_type})


def reference(url: str) -> str:
    """A URL as it may stand between angle brackets."""
    return quote(url, safe=_SAFE)


def batched(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines in pieces that are worth sending."""
    held: list[str] = []
    for line in lines:
        held.append(line)
        if len(held) == _BATCH:
            yield "".join(held).encode()
            held = []
    yield "".join(held).encode()


def _links(base: str, url: str, found: Iterable[Memento]) -> Iterator[str]:
    yield f'<{reference(url)}>; rel="original",\n'
    yield f'<{base}{web_path(url, "timemap/link")}>; rel="self"; type="application/link-format",\n'
    yield f'<{base}{web_path(url)}>; rel="timegate"'
    for memento, first, last in _marked(found):
        role = " ".join([*(["first"] if first else []), *(["last"] if last else []), "memento"])
        yield f',\n<{base}{web_path(url, memento.stamp)}>; rel="{role}"; datetime="{http_date(memento.capture.at)}"'
    yield "\n"


def _json(base: str, url: str, found: Iterable[Memento]) -> Iterator[str]:
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
    for memento, first, last in _marked(found):
        capture = memento.capture
        said = orjson.dumps(
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
            ends["first"] = said
        if last:
            ends["last"] = said
        yield f"{'' if first else ','}\n{said}"
    yield "]" + "".join(f',\n"{name}":{said}' for name, said in ends.items()) + "}}\n"


def _marked(found: Iterable[Memento]) -> Iterator[tuple[Memento, bool, bool]]:
    """Each memento, and whether it is the first and the last."""
    rest = iter(found)
    held, first = next(rest, None), True
    while held is not None:
        following = next(rest, None)
        yield held, first, following is None
        held, first = following, False
