"""Oddities: sites that are unusual but correct: charsets, copies, confusing names, redirects, all kinds of robots.txt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rehi.testing.world.charsets import UTF8, Charset, Declared, Mojibake
from rehi.testing.world.draw import Draw
from rehi.testing.world.formats import Format
from rehi.testing.world.hosts import Access, Host, Redirect, Resource, Validators, WorldDocument, path_of
from rehi.testing.world.pages import Design
from rehi.testing.world.replies import Answer, Reply
from rehi.testing.world.sites import copy_to

CHARSETS = ("utf-8", "iso-8859-1", "iso-8859-15", "windows-1257")
RING = "http://ring.rehemaa.test"


def build_oddities(seed: int, others: list[Host]) -> list[Host]:
    """Return all odd sites; ``others`` are the sites of which copies are made."""
    return [_charset_site(), _name_site(), _mirror(others), _ring(others), *_robots_sites(seed)]


def _host(name: str, resources: list[Resource]) -> Host:
    return Host(name=name, owner="Rehemaa", resources={path_of(resource.url): resource for resource in resources})


def _charset_site() -> Host:
    base = "http://kodeering.rehemaa.test"

    def page(path: str, charset: Charset, form: Format = Format.HTML) -> WorldDocument:
        return WorldDocument(
            url=base + path,
            language="et",
            format=form,
            charset=charset,
            topic="nature",
            words=160,
            key="charset",
        )

    resources: list[Resource] = [
        page(f"/{name}/{declared}.html", Charset(name, declared)) for name in CHARSETS for declared in Declared
    ]
    resources += [page(f"/{name}/tekst.txt", Charset(name, Declared.MISSING), Format.TEXT) for name in CHARSETS]
    resources += [page(f"/{name}/fail.xml", Charset(name, Declared.META), Format.XML) for name in CHARSETS]
    for mojibake in (Mojibake.LATIN, Mojibake.WINDOWS):
        resources.append(page(f"/segane/{mojibake}.html", Charset("utf-8", Declared.HEADER, mojibake)))
        resources.append(page(f"/segane/{mojibake}.txt", Charset("utf-8", Declared.HEADER, mojibake), Format.TEXT))
    return _host("kodeering.rehemaa.test", resources)


def _name_site() -> Host:
    """Return a site with names that are easily confused, in both languages and several formats."""
    base = "http://nimed.rehemaa.test"
    resources: list[Resource] = []
    for language in ("et", "en"):
        for number, form in enumerate((Format.HTML, Format.TEXT, Format.PDF, Format.HTML), start=1):
            resources.append(
                WorldDocument(
                    url=f"{base}/{language}/{number}.{form}",
                    language=language,
                    format=form,
                    design=Design.PAPER,
                    topic="traps",
                    words=150 + 20 * number,
                    shout=number == 4,
                    variant=number,
                )
            )
    return replace(_host("nimed.rehemaa.test", resources), design=Design.PAPER)


def _mirror(others: list[Host]) -> Host:
    """Return a site with exact copies of other sites' pages, some of them twice."""
    base = "http://peegel.rehemaa.test"
    originals = [host.documents[number] for host in others[:6] for number in (0, 2, 3)]
    resources: list[Resource] = [copy_to(page, f"{base}/koopia/{n}") for n, page in enumerate(originals, start=1)]
    resources += [copy_to(page, f"{base}/teine/{n}?sid=a1b2") for n, page in enumerate(originals[:4], start=1)]
    return replace(_host("peegel.rehemaa.test", resources), validators=Validators.NONE)


def _ring(others: list[Host]) -> Host:
    """Return a site with redirects of every status, in chains and across hosts, and some that can't be followed."""
    goal = WorldDocument(url=f"{RING}/siht.html", language="et", format=Format.HTML, topic="roads", words=120)
    abroad = others[0].documents[1].url
    lost = ("redirect-loop",)
    rows: list[tuple[str, int, str, tuple[str, ...]]] = [
        ("/301", 301, f"{RING}/siht.html", ()),
        ("/302", 302, "/siht.html", ()),
        ("/303", 303, "siht.html", ()),
        ("/307", 307, "./siht.html", ()),
        ("/308", 308, f"{RING}/siht.html#osa", ()),
        ("/skeemita", 301, "//ring.rehemaa.test/siht.html", ()),
        ("/ahel/1", 301, "/ahel/2", ()),
        ("/ahel/2", 302, "3", ()),
        ("/ahel/3", 307, f"{RING}/siht.html", ()),
        ("/mujale", 301, abroad, ()),
        ("/a", 302, "/b", lost),
        ("/b", 302, "/a", lost),
        ("/ise", 301, "/ise", lost),
        ("/r/1", 302, "/r/2", lost),
        ("/ilma", 302, "", ("bad-answer", "bad-status", "redirect-loop", "ok")),
        ("/ftp", 301, "ftp://ring.rehemaa.test/fail.txt", ("address-denied",)),
        ("/sisse", 301, "http://10.1.2.3/", ("address-denied",)),
        ("/fail", 301, "file:///etc/passwd", ("address-denied",)),
        ("/pilv", 302, "http://169.254.169.254/latest/meta-data/", ("address-denied",)),
        ("/koju", 302, "http://[::1]/", ("address-denied",)),
    ]
    resources: list[Resource] = [goal]
    resources += [Redirect(url=RING + path, status=status, location=to, expect=e) for path, status, to, e in rows]
    return replace(_host("ring.rehemaa.test", resources), otherwise=_endless_ring)


def _endless_ring(path: str) -> Answer | None:
    number = path.removeprefix("/r/")
    if not path.startswith("/r/") or not number.isascii() or not number.isdigit() or len(number) > 9:
        return None
    return Reply(status=302, headers=(("Location", f"/r/{int(number) + 1}"),))


def _robots_sites(seed: int) -> Iterator[Host]:
    yield _robots_site("kinni.rehemaa.test", {Access.DENIED: ("/1", "/2")}, b"User-agent: *\nDisallow: /\n")
    yield _robots_site(
        "erand.rehemaa.test",
        {Access.OPEN: ("/1", "/kataloog/avalik/2"), Access.DENIED: ("/kataloog/3", "/lugu/4.html")},
        b"User-agent: *\nDisallow: /\n\nUser-agent: rehi\nDisallow: /kataloog/\nAllow: /kataloog/avalik/\n"
        b"Disallow: /lugu/*.html$\n",
    )
    yield _robots_site("haige.rehemaa.test", {Access.DEFERRED: ("/1", "/2")}, b"viga\n", robots_status=500)
    yield _robots_site("robotita.rehemaa.test", {Access.OPEN: ("/1", "/2", "/3")}, None, robots_status=404)
    garbage = bytes(Draw("garbage", seed).number(0, 255) for _ in range(40)) * 64
    yield _robots_site("sodi.rehemaa.test", {Access.OPEN: ("/1", "/2")}, b"\x00\xff\xfe<html>\n" + garbage)
    rules = b"".join(b"Disallow: /keelatud/%06d/\n" % number for number in range(24_000))
    huge = b"User-agent: *\nDisallow: /esimene/\n" + rules  # 640 KB, of which RFC 9309 wants 500 KiB to be read
    yield _robots_site("paks.rehemaa.test", {Access.OPEN: ("/1",), Access.DENIED: ("/esimene/2",)}, huge)


def _robots_site(
    name: str, paths: dict[Access, tuple[str, ...]], robots: bytes | None, robots_status: int = 200
) -> Host:
    resources: list[Resource] = [
        WorldDocument(
            url=f"http://{name}{path}",
            language="et",
            format=Format.HTML,
            charset=UTF8,
            topic="data",
            words=110,
            access=access,
        )
        for access, group in paths.items()
        for path in group
    ]
    return replace(_host(name, resources), robots=robots, robots_status=robots_status)
