"""A page: a text as HTML, in one of several designs, with menus, links and footers around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape

from rehi.testing.world.charsets import Charset
from rehi.testing.world.texts import LANGUAGES, Text


class Design(StrEnum):
    """The designs of sites."""

    OFFICE = "office"  # HTML 5 with all its sections
    PAPER = "paper"  # an article with a byline, scripts and readers' comments
    TABLES = "tables"  # a layout of tables, as in 1999
    CARDS = "cards"  # nothing but divs
    BARE = "bare"  # hardly any tags, and few of them closed


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What is around the text of a page."""

    site: str  # whose site it is
    author: str = ""
    links: Sequence[tuple[str, str]] = ()  # URL and text


def render_page(text: Text, design: Design, charset: Charset, frame: Frame, *, url: str) -> bytes:
    """Return a text as the bytes of a page."""
    makers = {
        Design.OFFICE: _office,
        Design.PAPER: _paper,
        Design.TABLES: _tables,
        Design.CARDS: _cards,
        Design.BARE: _bare,
    }
    return charset.encode(makers[design](text, _meta(text, charset), frame, url))


def _meta(text: Text, charset: Charset) -> str:
    declared = f'<meta charset="{charset.in_document}">' if charset.in_document else ""
    summary = escape(" ".join(_paragraphs(text)[0].split()[:12]))
    return f'{declared}<title>{escape(text.title)}</title><meta name="description" content="{summary}">'


def _paragraphs(text: Text) -> tuple[str, ...]:
    return text.paragraphs or tuple(", ".join(row) for row in text.rows)


def _body(text: Text) -> str:
    if not text.rows:
        return "\n".join(f"<p>{escape(p, quote=False)}</p>" for p in text.paragraphs)
    header, *rows = text.rows
    lines = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in header) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "<table>" + "\n".join(lines) + "</table>"


def _links(frame: Frame) -> str:
    return "".join(f'<li><a href="{escape(to)}">{escape(words)}</a></li>' for to, words in frame.links)


def _menu(text: Text) -> str:
    words = LANGUAGES[text.language].FRAME
    paths = (("/", "home"), ("/#uudised", "news"), ("/#dokumendid", "documents"), ("/#kontakt", "contact"))
    return "".join(f'<li><a href="{path}">{words[key]}</a></li>' for path, key in paths)


def _office(text: Text, meta: str, frame: Frame, url: str) -> str:
    words = LANGUAGES[text.language].FRAME
    related = f"<aside><h2>{words['more']}</h2><ul>{_links(frame)}</ul></aside>" if frame.links else ""
    return f"""<!DOCTYPE html>
<html lang="{text.language}"><head>{meta}<link rel="canonical" href="{escape(url)}">
<link rel="stylesheet" href="/style.css"><meta property="og:title" content="{escape(text.title)}"></head>
<body><a class="skip" href="#content">{words["skip"]}</a>
<header><a href="/"><img src="/logo.png" alt=""> {escape(frame.site)}</a><nav><ul>{_menu(text)}</ul></nav>
<form action="/otsi"><input name="q" aria-label="{words["search"]}"><button>{words["search"]}</button></form></header>
<main id="content"><h1>{escape(text.title)}</h1>
{_body(text)}
</main>{related}
<footer><p>{escape(frame.site)}</p><p>{words["rights"]}</p></footer></body></html>
"""


def _paper(text: Text, meta: str, frame: Frame, url: str) -> str:
    words = LANGUAGES[text.language].FRAME
    byline = f'<p class="byline">{words["author"]}: {escape(frame.author)}</p>' if frame.author else ""
    return f"""<!doctype html>
<html lang="{text.language}">
<head>{meta}<script>window.paper = {{"page": 1}}; document.write("<b>" + "</" + "b>");</script>
<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "NewsArticle"}}</script>
<style>.byline {{ color: #555 }}</style></head>
<body><div id="cookies">{words["cookies"]}</div><!-- begin: header -->
<div class="top"><a href="/">{escape(frame.site)}</a><ul class="menu">{_menu(text)}</ul></div>
<article><h1>{escape(text.title)}</h1>{byline}
{_body(text)}
</article><!-- <p>Kustutatud lõik</p> -->
<section class="related"><h3>{words["more"]}</h3><ul>{_links(frame)}</ul></section>
<section class="comments"><h3>{words["comments"]}</h3><p>{words["comment"]}</p></section>
<noscript><img src="/pixel.gif" alt=""></noscript>
<footer>{escape(frame.site)} | {words["rights"]}</footer></body></html>
"""


def _tables(text: Text, meta: str, frame: Frame, url: str) -> str:
    words = LANGUAGES[text.language].FRAME
    return f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<HTML><HEAD>{meta}</HEAD>
<BODY BGCOLOR="#FFFFFF"><TABLE WIDTH="100%" BORDER=0><TR><TD COLSPAN=2><FONT SIZE=5>{escape(frame.site)}</FONT></TD></TR>
<TR VALIGN=top><TD WIDTH=160><UL>{_menu(text)}{_links(frame)}</UL></TD>
<TD><H2>{escape(text.title)}</H2>
{_body(text)}
</TD></TR><TR><TD COLSPAN=2><HR><FONT SIZE=1>{words["rights"]}</FONT></TD></TR></TABLE></BODY></HTML>
"""


def _cards(text: Text, meta: str, frame: Frame, url: str) -> str:
    words = LANGUAGES[text.language].FRAME
    body = _body(text).replace("<p>", '<div class="card"><span>').replace("</p>", "</span></div>")
    return f"""<!DOCTYPE html><html lang="{text.language}"><head>{meta}<script src="/app.js" defer></script></head>
<body><div class="nav"><div class="brand">{escape(frame.site)}</div><ul>{_menu(text)}</ul></div>
<div class="page"><div class="title"><h1>{escape(text.title)}</h1></div>
{body}
</div><div class="links"><ul>{_links(frame)}</ul></div><div class="foot">{words["rights"]}</div></body></html>
"""


def _bare(text: Text, meta: str, frame: Frame, url: str) -> str:
    body = _body(text).replace("</p>", "")
    links = f"<ul>{_links(frame)}</ul>" if frame.links else ""
    return f"{meta}\n<h1>{escape(text.title)}</h1>\n{body}\n{links}<hr><a href=/>{escape(frame.site)}</a>\n"
