"""The library: writes documents when they are requested, and caches the last few thousand."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256

from rehi.languages.kinds import NameKind
from rehi.testing.world.clock import START
from rehi.testing.world.draw import Draw
from rehi.testing.world.formats import Format, render
from rehi.testing.world.hosts import Host, Validators, WorldDocument, host_of, path_of
from rehi.testing.world.names import PLACES, Name, Population
from rehi.testing.world.pages import Design, Frame, render_page
from rehi.testing.world.registers import compile_register
from rehi.testing.world.replies import Reply
from rehi.testing.world.texts import Text, TextSpec, Truth, compose

_REMEMBERED = 4_096


class Library:
    """The texts, the names and the bytes of all documents at any time. Safe to use from several threads."""

    def __init__(self, seed: int, hosts: dict[str, Host]) -> None:
        self._seed = seed
        self._hosts = hosts
        self._population = Population(seed)
        self._texts = lru_cache(_REMEMBERED)(self._compose)
        self._replies = lru_cache(_REMEMBERED)(self._render)

    def text(self, document: WorldDocument, at: datetime) -> Text:
        """Return the text of a document, without the menus around it."""
        return self._texts(
            document.key or document.copy_of or document.url, self._source(document), version_at(document, at)
        )

    def truth(self, document: WorldDocument, at: datetime) -> Truth:
        """Return the names in a document at that time."""
        document = self._source(document)
        truth = self.text(document, at).truth
        if document.format is not Format.HTML:
            return truth
        owner = self._hosts[host_of(document.url)].owner
        also = {(kind, owner) for kind in NameKind} | {(NameKind.PERSON, self._author(document))}
        for other in self._related(document):
            also |= self.text(other, START).truth.names
        return truth.and_also(also)

    def reply(self, document: WorldDocument, at: datetime) -> Reply:
        """Return a document as its site serves it at that time."""
        return self._replies(document, version_at(document, at))

    def _source(self, document: WorldDocument) -> WorldDocument:
        if not document.copy_of:
            return document
        original = self._hosts[host_of(document.copy_of)].resources[path_of(document.copy_of)]
        assert isinstance(original, WorldDocument)
        return original

    def _compose(self, key: str, document: WorldDocument, number: int | None) -> Text:
        spec = TextSpec(
            seed=self._seed, key=key, language=document.language, topic=document.topic, words=document.words,
            shout=document.shout, plain=document.charset.plain or document.key != "",
            home=self._home(self._hosts[host_of(document.url)].owner), version=number,
        )  # fmt: skip
        return compile_register(self._population, spec) if document.register else compose(self._population, spec)

    def _home(self, owner: str) -> tuple[Name, ...]:
        """Return the owner of a site and the place it is in, as far as they are names of the practice web."""
        wanted = {owner, *(name for name, genitive, _ in PLACES if owner.startswith(f"{genitive} "))}
        return tuple(name for names in self._population.roles.values() for name in names if name.base in wanted)

    def _author(self, document: WorldDocument) -> str:
        if document.design is not Design.PAPER or document.front:
            return ""
        return Draw("author", self._seed, document.url).pick(self._population.roles["person"]).base

    def _related(self, document: WorldDocument) -> list[WorldDocument]:
        """Return the documents to which a page links: a front page to all of its site, any other to the next few."""
        everything = [d for d in self._hosts[host_of(document.url)].documents if not d.copy_of]
        if document.front:
            return [other for other in everything if not other.front]
        if document not in everything:
            return []
        at = everything.index(document)
        return [d for d in (everything * 2)[at + 1 : at + 4] if not d.front and d != document]

    def _body(self, document: WorldDocument, number: int | None) -> bytes:
        text = self._texts(document.key or document.url, document, number)
        if document.format is not Format.HTML:
            return render(text, document.format, document.charset, url=document.url, variant=document.variant)
        links = [(path_of(other.url), self.text(other, START).title) for other in self._related(document)]
        owner = self._hosts[host_of(document.url)].owner
        frame = Frame(site=owner, author=self._author(document), links=links)
        return render_page(text, document.design, document.charset, frame, url=document.url)

    def _render(self, document: WorldDocument, number: int | None) -> Reply:
        source = self._source(document)
        body = self._body(source, number)
        host = self._hosts[host_of(document.url)]
        textual = document.format not in (Format.PDF, Format.JSON)
        charset = f"; charset={document.charset.in_header}" if textual and document.charset.in_header else ""
        validators = host.validators
        return Reply(
            headers=(("Content-Type", document.media_type + charset),),
            body=body,
            etag=f'"{sha256(body).hexdigest()[:20]}"' if validators in (Validators.BOTH, Validators.ETAG) else "",
            last_modified=self._modified(source, number)
            if validators in (Validators.BOTH, Validators.MODIFIED)
            else None,
            gzip=host.gzip,
        )

    def _modified(self, document: WorldDocument, number: int | None) -> datetime:
        if document.period is None or number is None:
            return START - timedelta(seconds=Draw("modified", self._seed, document.url).number(3_600, 400 * 86_400))
        return START + timedelta(seconds=number * document.period)


def version_at(document: WorldDocument, at: datetime) -> int | None:
    """Return the number of a document's version at that time; None if it never changes."""
    if document.period is None:
        return None
    return int((at - START).total_seconds() // document.period)
