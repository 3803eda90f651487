"""A text: titles and paragraphs about people, organisations and places, and the truth about whom they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from rehi.languages.kinds import NameKind
from rehi.testing.world import english, estonian
from rehi.testing.world.draw import Draw
from rehi.testing.world.names import SPECIAL, Name, Population

LANGUAGES: Mapping[str, ModuleType] = {"et": estonian, "en": english}
TOPICS = tuple(estonian.SENTENCES)
ROLES = ("person", "place", "council", "ministry", "company", "school", "museum", "library")

_SLOT = re.compile(r"\{([a-z]+)(\d?)(?::([a-z]+))?\}")
_BLOCKS = 6  # items on a page that changes with the clock: the newest comes first, the oldest goes

Key = tuple[NameKind, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Whom and what a document names."""

    names: frozenset[Key] = frozenset()  # the kind and the basic form, of what stands in the text itself
    surfaces: frozenset[tuple[NameKind, str, str]] = frozenset()  # the same, with each form that stands there
    also: frozenset[Key] = frozenset()  # may be found, need not: surnames alone, and what the site's frame says

    def and_also(self, names: Iterable[Key]) -> Truth:
        """The same text in a frame that names more."""
        return Truth(names=self.names, surfaces=self.surfaces, also=self.also | (frozenset(names) - self.names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A title, paragraphs, and the truth about them."""

    language: str
    title: str
    paragraphs: tuple[str, ...]
    truth: Truth
    rows: tuple[tuple[str, ...], ...] = ()  # of a register: the header first; its paragraphs are empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be written."""

    seed: int
    key: str  # texts with one key are the same
    language: str
    topic: str = "council"
    words: int = 200
    shout: bool = False  # the title in capitals
    plain: bool = False  # nothing that ISO-8859-1 can't say
    home: tuple[Name, ...] = ()  # named more often than others, as a town is on its own site
    edition: int | None = None  # of a page that changes with the clock


@dataclass(slots=True)
class Named:
    """The names that a text has used so far."""

    language: str
    by_role: dict[str, list[Name]] = field(default_factory=dict)
    surfaces: set[tuple[NameKind, str, str]] = field(default_factory=set)
    also: set[Key] = field(default_factory=set)
    last_person: Name | None = None

    def use(self, role: str, name: Name, case: str) -> str:
        """Note that the name stands in the text, and give the form in which it does."""
        surface = name.form(case, self.language)
        self.by_role.setdefault(role, []).append(name)
        self.surfaces.add((*name.key(self.language), surface))
        if name.kind is NameKind.PERSON:
            self.last_person = name
        return surface

    def truth(self) -> Truth:
        """What the text names, now that it is finished."""
        names = frozenset((kind, base) for kind, base, _ in self.surfaces)
        return Truth(names=names, surfaces=frozenset(self.surfaces), also=frozenset(self.also) - names)


class Writer:
    """Fills the slots of sentences with a few names that come again and again, as in an article."""

    def __init__(self, population: Population, draw: Draw, named: Named, home: Sequence[Name], words: int) -> None:
        self._draw = draw
        self._named = named
        self._cast = {role: draw.sample(population.roles[role], 2) for role in ROLES}
        self._cast["person"] = draw.sample(population.roles["person"], 3 + words // 70)
        self._cast["place"] = draw.sample(population.roles["place"], 3 + words // 120)
        for name in home:
            cast = self._cast[population.role_of(name)]
            cast[:] = [name, *(other for other in cast if other != name)]

    def fill(self, template: str) -> str:
        """The sentence, its names noted."""
        here: dict[str, Name] = {}

        def replace(slot: re.Match[str]) -> str:
            role, number, case = slot[1], slot[2], slot[3] or "nom"
            if role in SPECIAL:
                return self._named.use(role, SPECIAL[role], case)
            if role == "surname":
                return self._surname()
            if role not in self._cast:
                return amount(role, self._draw, self._named.language)
            if role + number not in here:
                here[role + number] = self._draw.pick([n for n in self._cast[role] if n not in here.values()])
            return self._named.use(role, here[role + number], case)

        return _SLOT.sub(replace, template)

    def _surname(self) -> str:
        last = self._named.last_person
        assert last is not None  # such sentences only follow one that names a person
        self._named.also.add((NameKind.PERSON, last.family))
        return last.family


def amount(what: str, draw: Draw, language: str) -> str:
    """A number, a year, a sum, a date or a month in words."""
    words = LANGUAGES[language]
    month = draw.number(0, 5)
    makers: dict[str, Callable[[], str]] = {
        "number": lambda: str(draw.number(3, 97)),
        "year": lambda: str(draw.number(2018, 2027)),
        "money": lambda: money(draw.number(3, 940), draw.number(1, 9) * 100, language),
        "month": lambda: str(words.MONTHS[month]),
        "monthgen": lambda: str(words.MONTHS_GENITIVE[month]),
        "date": lambda: date(draw.number(1, 28), month, language),
    }
    return makers[what]()


def money(thousands: int, rest: int, language: str) -> str:
    """A sum of euros as each language groups its digits."""
    return f"{thousands} {rest:03} eurot" if language == "et" else f"{thousands},{rest:03} euros"


def date(day: int, month: int, language: str) -> str:
    """A day of 2026, in Estonian the one on which something happens."""
    if language == "et":
        return f"{day}. {estonian.MONTHS_GENITIVE[month]}l 2026"
    return f"{day} {english.MONTHS[month]} 2026"


def compose(population: Population, order: Order) -> Text:
    """Write a text; one that changes with the clock is a row of items, each with an edition of its own."""
    named = Named(order.language)
    if order.edition is None:
        draw = Draw("text", order.seed, order.key)
        paragraphs = _write(population, order, draw, named, order.topic, order.words)
    else:
        paragraphs = []
        for back in range(_BLOCKS):
            draw = Draw("text", order.seed, order.key, order.edition - back)
            paragraphs += _write(population, order, draw, named, draw.pick(TOPICS), order.words // _BLOCKS)
    title = _title(order, named, Draw("title", order.seed, order.key, order.edition))
    return Text(language=order.language, title=title, paragraphs=tuple(paragraphs), truth=named.truth())


def _write(population: Population, order: Order, draw: Draw, named: Named, topic: str, words: int) -> list[str]:
    writer = Writer(population, draw, named, order.home, words)
    sentences: list[str] = []
    count = 0
    for template in _templates(order, draw, topic, named):
        sentences.append(writer.fill(template))
        count += len(sentences[-1].split())
        if count >= words:
            break
    paragraphs = []
    while sentences:
        length = draw.number(3, 5)
        paragraphs.append(" ".join(sentences[:length]))
        del sentences[:length]
    return paragraphs


def _templates(order: Order, draw: Draw, topic: str, named: Named) -> Iterable[str]:
    """Sentences on the topic first and for the most part, none twice before all have had their turn."""
    language = LANGUAGES[order.language]
    fits = [t for t in language.SENTENCES.get(topic, language.TRAPS) if not order.plain or _plain(t)]
    rest = [t for name in TOPICS if name != topic for t in language.SENTENCES[name] if not order.plain or _plain(t)]
    while True:
        first = fits if topic == "traps" else draw.sample(fits, len(fits))
        for template in (*first, *draw.sample(rest, len(rest))):
            yield template
            if named.last_person is not None and draw.chance(6):
                yield draw.pick(language.FOLLOWING)
            if draw.chance(22):
                yield draw.pick(language.GENERAL)


def _plain(template: str) -> bool:
    return not set(template) & set("šžŠŽ€")


def _title(order: Order, named: Named, draw: Draw) -> str:
    """A headline about names that the text has, so that whoever leaves headlines out misses nothing."""
    templates = LANGUAGES[order.language].TITLES[order.topic]
    able = [t for t in templates if all(slot[1] in named.by_role for slot in _SLOT.finditer(t))]

    def replace(slot: re.Match[str]) -> str:
        return draw.pick(named.by_role[slot[1]]).form(slot[3] or "nom", order.language)

    title = _SLOT.sub(replace, draw.pick(able))
    return title.upper() if order.shout else title
