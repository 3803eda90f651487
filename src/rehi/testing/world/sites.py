"""Sites that behave: ministries, towns, newspapers, companies, schools, libraries and museums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rehi.testing.world.charsets import UTF8, Charset, Declared
from rehi.testing.world.draw import Draw
from rehi.testing.world.formats import Format
from rehi.testing.world.hosts import DAY, HOUR, Host, Redirect, Resource, Validators, WorldDocument, path_of
from rehi.testing.world.pages import Design
from rehi.testing.world.texts import TOPICS

_LATIN1 = Charset("iso-8859-1", Declared.META)
_LATIN9 = Charset("iso-8859-15", Declared.HEADER)
_BALTIC = Charset("windows-1257", Declared.META)
_TOWN = "html:13 pdf:2 csv:1 txt:1"
_PAPER = "html:15 rss:1"
_FIRM = "html:10 pdf:1 json:1"
_HOUSE = "html:10 txt:1 pdf:1"


@dataclass(frozen=True, slots=True)
class SitePlan:
    """The description of a site, from which its documents follow."""

    host: str
    owner: str
    design: Design
    counts: str  # documents by format
    language: str = "et"  # "et" sites have every sixth page in English
    charset: Charset = UTF8
    small: int = 0  # pages in the small practice web; 0 leaves the site out


PLANS = (
    SitePlan("www.rehemaa.test", "Rehemaa", Design.OFFICE, "html:15 pdf:2 txt:1 rss:1", small=6),
    SitePlan("avaandmed.rehemaa.test", "Külaeluministeerium", Design.CARDS, "html:5 csv:9 json:9 xml:8", small=9),
    SitePlan("www.mereministeerium.test", "Mereministeerium", Design.OFFICE, "html:12 pdf:3 xml:1", small=4),
    SitePlan("www.teedeministeerium.test", "Teedeministeerium", Design.OFFICE, "html:12 pdf:2 csv:1"),
    SitePlan("www.metsaministeerium.test", "Metsaministeerium", Design.CARDS, "html:12 pdf:2 json:1"),
    SitePlan("www.rahvakultuur.test", "Rahvakultuuriministeerium", Design.OFFICE, "html:12 pdf:2 xml:1"),
    SitePlan("www.kylaelu.test", "Külaeluministeerium", Design.TABLES, "html:12 txt:2 pdf:1", charset=_LATIN9),
    SitePlan("www.lepaoja.test", "Lepaoja Linnavalitsus", Design.OFFICE, _TOWN, small=5),
    SitePlan("www.kaldaveere.test", "Kaldaveere Linnavalitsus", Design.TABLES, _TOWN, charset=_LATIN1, small=4),
    SitePlan("www.nurmesalu.test", "Nurmesalu Linnavalitsus", Design.CARDS, _TOWN),
    SitePlan("www.kivirand.test", "Kiviranna Linnavalitsus", Design.OFFICE, _TOWN),
    SitePlan("www.mustaoja.test", "Mustaoja Linnavalitsus", Design.TABLES, _TOWN, charset=_BALTIC),
    SitePlan("www.sillaotsa.test", "Sillaotsa Linnavalitsus", Design.BARE, _TOWN, charset=_LATIN9),
    SitePlan("www.rohujarv.test", "Rohujärve Linnavalitsus", Design.OFFICE, _TOWN),
    SitePlan("www.torvanomm.test", "Tõrvanõmme Linnavalitsus", Design.TABLES, _TOWN, charset=_BALTIC),
    SitePlan("www.hundikyla.test", "Hundiküla Vallavalitsus", Design.BARE, "html:8 txt:2"),
    SitePlan("www.liivakyla.test", "Liivaküla Vallavalitsus", Design.OFFICE, "html:10 csv:1"),
    SitePlan("www.xn--unakla-oxa4d.test", "Õunaküla Vallavalitsus", Design.CARDS, "html:8 txt:1"),
    SitePlan("www.rehemaateataja.test", "Rehemaa Teataja", Design.PAPER, _PAPER, small=5),
    SitePlan("uudised.rehemaa.test", "Rehemaa Uudised", Design.PAPER, _PAPER),
    SitePlan("www.kaldaleht.test", "Kaldaleht", Design.PAPER, _PAPER, charset=_BALTIC),
    SitePlan("www.rannaelu.test", "Rannaelu", Design.CARDS, _PAPER),
    SitePlan("news.rehemaa.test", "Rehemaa News", Design.PAPER, _PAPER, "en", small=5),
    SitePlan("www.rehemaatimes.test", "The Rehemaa Times", Design.PAPER, _PAPER, "en"),
    SitePlan("www.baltic-coast.test", "Baltic Coast", Design.CARDS, _PAPER, "en"),
    SitePlan("www.merepiim.test", "OÜ Merepiim", Design.OFFICE, _FIRM),
    SitePlan("www.kuldkala.test", "AS Kuldkala", Design.CARDS, _FIRM, "en"),
    SitePlan("www.sadamasilm.test", "OÜ Sadamasilm", Design.OFFICE, _FIRM, "en"),
    SitePlan("www.rannaraud.test", "AS Rannaraud", Design.BARE, _FIRM, "en"),
    SitePlan("www.pohjasild.test", "AS Põhjasild", Design.TABLES, _FIRM, charset=_LATIN9),
    SitePlan("haigla.rehemaa.test", "SA Rehemaa Haigla", Design.OFFICE, _FIRM),
    SitePlan("www.hobekuusk.test", "OÜ Hõbekuusk", Design.CARDS, _FIRM, "en"),
    SitePlan("www.lepaojagymnaasium.test", "Lepaoja Gümnaasium", Design.OFFICE, _HOUSE),
    SitePlan("www.kivirannakool.test", "Kiviranna Põhikool", Design.BARE, _HOUSE),
    SitePlan("www.mustaojakool.test", "Mustaoja Gümnaasium", Design.TABLES, _HOUSE, charset=_LATIN9),
    SitePlan("raamatukogu.lepaoja.test", "Lepaoja Raamatukogu", Design.OFFICE, _HOUSE),
    SitePlan("raamatukogu.kaldaveere.test", "Kaldaveere Raamatukogu", Design.CARDS, _HOUSE, "en"),
    SitePlan("raamatukogu.rohujarv.test", "Rohujärve Raamatukogu", Design.BARE, "html:6 txt:1"),
    SitePlan("muuseum.lepaoja.test", "Lepaoja Muuseum", Design.OFFICE, _HOUSE),
    SitePlan("muuseum.kivirand.test", "Kiviranna Muuseum", Design.CARDS, _HOUSE, "en"),
    SitePlan("muuseum.nurmesalu.test", "Nurmesalu Muuseum", Design.PAPER, _HOUSE, "en"),
    SitePlan("research.rehemaa.test", "Rehemaa Research", Design.OFFICE, "html:12 pdf:6 json:1 csv:2", "en"),
    SitePlan("opendata.rehemaa.test", "Rehemaa Open Data", Design.CARDS, "html:4 csv:7 json:6 xml:5", "en", small=4),
)

_PATHS = {
    Design.OFFICE: "/uudised/{n}",
    Design.PAPER: "/2026/03/artikkel-{n}.html",
    Design.TABLES: "/index.php?id={n}",
    Design.CARDS: "/lugu/{n}/",
    Design.BARE: "/leht{n}.html",
}
_ROBOTS = {
    "www.hundikyla.test": b"User-agent: *\nCrawl-delay: 0.2\nDisallow: /admin/\n",
    "raamatukogu.rohujarv.test": b"User-agent: *\nDisallow:\nCrawl-delay: 0.3\n",
    "www.rehemaa.test": b"# Rehemaa\nUser-agent: *\nDisallow: /sisemine/\nAllow: /sisemine/avalik/\n",
}
_NO_ROBOTS = ("www.pohjasild.test", "www.kivirannakool.test", "www.rannaelu.test")


def build_site(plan: SitePlan, seed: int, *, small: bool) -> Host:
    """Return the host of a plan with its documents, the front page first."""
    draw = Draw("site", seed, plan.host)
    documents = [_front(plan), *_documents(plan, seed, limit=plan.small - 1 if small else None)]
    resources: dict[str, Resource] = {path_of(document.url): document for document in documents}
    resources |= {path_of(moved.url): moved for moved in _moved(plan, documents)}
    return Host(
        name=plan.host,
        owner=plan.owner,
        design=plan.design,
        robots=None if plan.host in _NO_ROBOTS else _ROBOTS.get(plan.host, b"User-agent: *\nDisallow: /otsi\n"),
        robots_status=404 if plan.host in _NO_ROBOTS else 200,
        validators=draw.pick(tuple(Validators)),
        gzip=draw.chance(40),
        resources=resources,
    )


def _front(plan: SitePlan) -> WorldDocument:
    news = plan.counts == _PAPER
    return WorldDocument(
        url=f"http://{plan.host}/", language=plan.language, format=Format.HTML, design=plan.design, charset=plan.charset,
        topic="culture" if news else "council", words=240 if news else 120, period=HOUR if news else None, front=True,
    )  # fmt: skip


def _documents(plan: SitePlan, seed: int, limit: int | None) -> Iterator[WorldDocument]:
    wanted = [Format(part.split(":")[0]) for part in plan.counts.split() for _ in range(int(part.split(":")[1]))]
    if limit is not None:  # a few of every format
        seen: dict[Format, int] = {}
        ranked = [(seen.setdefault(form, 0), seen.update({form: seen[form] + 1}), form) for form in wanted]
        wanted = [form for _, _, form in sorted(ranked, key=lambda item: item[0])][:limit]
    for number, form in enumerate(wanted, start=1):
        yield _document(plan, Draw("document", seed, plan.host, number), form, number)


def _document(plan: SitePlan, draw: Draw, form: Format, number: int) -> WorldDocument:
    language = "en" if plan.language == "en" or number % 6 == 0 else "et"
    register = form is Format.CSV or (form in (Format.JSON, Format.XML) and number % 2 == 0)
    periods = {Format.CSV: DAY, Format.RSS: HOUR, Format.JSON: DAY if register else None}
    words = min(draw.number(90, 570), draw.number(90, 570))
    return WorldDocument(
        url=f"http://{plan.host}{_path(plan, form, language, number)}",
        language=language,
        format=form,
        design=plan.design,
        charset=_charset(plan, form),
        topic=draw.pick(TOPICS),
        words=words,
        shout=plan.design is Design.PAPER and number % 5 == 0,
        register=register,
        period=periods.get(form),
        variant=number,
    )


def _path(plan: SitePlan, form: Format, language: str, number: int) -> str:
    prefix = "/en" if language == "en" and plan.language == "et" else ""
    if form is Format.HTML:
        return prefix + _PATHS[plan.design].format(n=number)
    if form is Format.RSS:
        return f"{prefix}/rss/{number}.xml"
    folder = {Format.PDF: "dokumendid/aruanne", Format.TEXT: "dokumendid/teade"}.get(form, "andmed/fail")
    return f"{prefix}/{folder}-{number}.{form}"


def _charset(plan: SitePlan, form: Format) -> Charset:
    if form in (Format.HTML, Format.TEXT, Format.CSV):
        return plan.charset
    return Charset("utf-8", Declared.META) if form in (Format.XML, Format.RSS) else UTF8


def _moved(plan: SitePlan, documents: list[WorldDocument]) -> Iterator[Redirect]:
    """Yield old URLs of some documents, with permanent redirects to the new ones."""
    pages = [document for document in documents if document.format is Format.HTML and not document.front]
    for number, (document, status) in enumerate(zip(pages[:2], (301, 308), strict=False), start=1):
        location = document.url if number == 1 else path_of(document.url)
        yield Redirect(url=f"http://{plan.host}/vana/{number}", status=status, location=location)


def copy_to(document: WorldDocument, url: str) -> WorldDocument:
    """Return a document with the same bytes at another URL."""
    return replace(document, url=url, copy_of=document.url)
