"""Traps: the hosts that misbehave, which are slow, broken, huge, lying, endless or failing."""

from __future__ import annotations

import base64
from dataclasses import replace

from rehi.testing.world import misbehaviours
from rehi.testing.world.formats import Format
from rehi.testing.world.hosts import Host, Resource, Trap, Validators, WorldDocument, path_of
from rehi.testing.world.pages import Design
from rehi.testing.world.replies import Answer, Reply

# The server's resolve rules lead this host to a closed port.
CLOSED = "suletud.rehemaa.test"

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_SORRY = "<!doctype html><html lang=et><title>{0}</title><h1>{0}</h1><p>Seda lehte meil kahjuks ei ole.</p></html>\n"

# host, path, misbehaviour, the error codes that may follow
_MISBEHAVIOURS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("aeglane.rehemaa.test", "/tilk", "dribbled-body", ("timed-out",)),
    ("aeglane.rehemaa.test", "/pais", "dribbled-head", ("timed-out",)),
    ("aeglane.rehemaa.test", "/vaikus", "silence", ("timed-out",)),
    ("katki.rehemaa.test", "/katkestus", "reset", ("connect-failed", "truncated")),
    ("katki.rehemaa.test", "/tyhi-vastus", "empty-reply", ("bad-answer", "connect-failed", "truncated")),
    ("katki.rehemaa.test", "/teine-keel", "not-http", ("bad-answer",)),
    ("katki.rehemaa.test", "/pool-paist", "half-head", ("bad-answer", "connect-failed", "truncated")),
    ("suur.rehemaa.test", "/suur.txt", "huge-body", ("too-large",)),
    ("suur.rehemaa.test", "/tykid.txt", "huge-chunks", ("too-large",)),
    ("suur.rehemaa.test", "/pomm.html", "gzip-bomb", ("too-large",)),
    ("pikkus.rehemaa.test", "/pikem", "longer-than-said", ("ok", "truncated")),
    ("pikkus.rehemaa.test", "/lyhem", "shorter-than-said", ("truncated",)),
    ("pikkus.rehemaa.test", "/pool-gzip", "cut-gzip", ("bad-encoding", "truncated")),
    ("pikkus.rehemaa.test", "/vale-gzip", "false-gzip", ("bad-encoding",)),
    ("pikkus.rehemaa.test", "/pool-tykke", "cut-chunks", ("truncated",)),
    (
        "pikkus.rehemaa.test",
        "/vale-tykid",
        "false-chunks",
        ("truncated", "bad-answer", "bad-encoding", "connect-failed"),
    ),
    ("lopmatu.rehemaa.test", "/voog", "endless-body", ("timed-out", "too-large")),
    ("lopmatu.rehemaa.test", "/paised", "endless-head", ("bad-answer", "too-large", "timed-out", "connect-failed")),
)
_FAILURES = (400, 401, 403, 404, 410, 429, 500, 503)


def build_traps() -> list[Host]:
    """Return all hosts that misbehave."""
    hosts: dict[str, list[Resource]] = {}
    for name, path, misbehaviour, expect in _MISBEHAVIOURS:
        trap = Trap(
            url=f"http://{name}{path}", about=misbehaviour, expect=expect, answer=misbehaviours.ALL[misbehaviour],
            media_type="text/plain" if path.endswith(".txt") else "text/html",
        )  # fmt: skip
        hosts.setdefault(name, []).append(trap)
    hosts["aeglane.rehemaa.test"].append(_late_page())
    hosts["valetaja.rehemaa.test"] = _mislabelled()
    hosts["vead.rehemaa.test"] = _failures()
    return [_host(name, resources) for name, resources in hosts.items()]


def _host(name: str, resources: list[Resource]) -> Host:
    return Host(
        name=name,
        owner="Rehemaa",
        validators=Validators.NONE,
        resources={path_of(resource.url): resource for resource in resources},
        otherwise=_soft_404 if name == "vead.rehemaa.test" else None,
    )


def _late_page() -> WorldDocument:
    return WorldDocument(
        url="http://aeglane.rehemaa.test/tuleb.html",
        language="et",
        format=Format.HTML,
        topic="roads",
        words=120,
        late=True,
    )


def _mislabelled() -> list[Resource]:
    """Return documents whose declared media type is wrong, and an image that is declared as HTML."""
    base = "http://valetaja.rehemaa.test"
    honest = WorldDocument(url="", language="et", format=Format.HTML, design=Design.OFFICE, topic="economy", words=140)
    rows = (
        ("/leht.pdf", Format.HTML, "application/pdf"),
        ("/aruanne", Format.PDF, "text/plain"),
        ("/andmed", Format.JSON, "text/html"),
        ("/tabel", Format.CSV, "application/octet-stream"),
        ("/fail", Format.XML, "text/plain"),
        ("/tekst", Format.TEXT, "text/html"),
        ("/tyybita", Format.HTML, "application/x-unknown"),
    )
    lies: list[Resource] = [
        replace(honest, url=base + path, format=form, declared=declared, register=form is Format.CSV)
        for path, form, declared in rows
    ]
    image = Reply(headers=(("Content-Type", "text/html; charset=utf-8"),), body=PIXEL)
    lies.append(Trap(url=f"{base}/pilt", about="image-as-html", expect=("not-text", "unreadable", "ok"), answer=image))
    return lies


def _failures() -> list[Resource]:
    base = "http://vead.rehemaa.test"
    traps: list[Resource] = []
    for status in _FAILURES:
        more = (("Retry-After", "1"),) if status in (429, 503) else ()
        reply = Reply(status=status, headers=(("Content-Type", "text/html; charset=utf-8"), *more), body=_sorry(status))
        code = "overloaded" if more else "bad-status"
        url = f"{base}/{status}"
        traps.append(Trap(url=url, about=f"status-{status}", expect=(code,), answer=reply, status=status))
    nothing = Reply(headers=(("Content-Type", "text/html; charset=utf-8"),))
    traps.append(Trap(url=f"{base}/tyhi", about="empty-body", expect=("ok", "unreadable", "not-text"), answer=nothing))
    traps.append(Trap(url=f"{base}/kadunud/leht", about="soft-404", expect=("soft-error",), answer=_gone_softly()))
    return traps


def _sorry(status: int) -> bytes:
    return _SORRY.format(f"Viga {status}").encode()


def _gone_softly() -> Reply:
    body = _SORRY.format("Lehte ei leitud").encode()
    return Reply(headers=(("Content-Type", "text/html; charset=utf-8"),), body=body)


def _soft_404(_path: str) -> Answer | None:
    return _gone_softly()
