"""A text: title and paragraphs about people, organisations and places, and the list of the names in them."""

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
_BLOCKS = 6  # items on a page that changes with the clock: the newest is added in front, the oldest removed

Key = tuple[NameKind, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The names in a document, which a reader should recognise."""

    names: frozenset[Key] = frozenset()  # kind and basic form of the names in the text itself
    surfaces: frozenset[tuple[NameKind, str, str]] = frozenset()  # the same, with each inflected form in the text
    also: frozenset[Key] = (
        frozenset()
    )  # names that may be recognised or not: surnames alone, and names in menus and footers

    def and_also(self, names: Iterable[Key]) -> Truth:
        """Return the truth with further names that may be recognised or not."""
        return Truth(names=self.names, surfaces=self.surfaces, also=self.also | (frozenset(names) - self.names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A title and paragraphs, or a table, and the names in them."""

    language: str
    title: str
    paragraphs: tuple[str, ...]
    truth: Truth
    rows: tuple[tuple[str, ...], ...] = ()  # of a register: the header first; its paragraphs are empty


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpec:
    """The specification of a text, from which it follows."""

    seed: int
    key: str  # texts with the same key are the same
    language: str
    topic: str = "council"
    words: int = 200
    shout: bool = False  # the title in capitals
    plain: bool = False  # only characters of ISO-8859-1
    home: tuple[Name, ...] = ()  # named more often than others, as a town is on its own site
    version: int | None = None  # of a page that changes with the clock


@dataclass(slots=True)
class UsedNames:
    """The names that a text has used so far."""

    language: str
    by_role: dict[str, list[Name]] = field(default_factory=dict)
    surfaces: set[tuple[NameKind, str, str]] = field(default_factory=set)
    also: set[Key] = field(default_factory=set)
    last_person: Name | None = None

    def use(self, role: str, name: Name, case: str) -> str:
        """Note that a name is in the text, and return its form in that case."""
        surface = name.form(case, self.language)
        self.by_role.setdefault(role, []).append(name)
        self.surfaces.add((*name.key(self.language), surface))
        if name.kind is NameKind.PERSON:
            self.last_person = name
        return surface

    def truth(self) -> Truth:
        """Return the names in the finished text."""
        names = frozenset((kind, base) for kind, base, _ in self.surfaces)
        return Truth(names=names, surfaces=frozenset(self.surfaces), also=frozenset(self.also) - names)


class SentenceWriter:
    """Fills the slots of sentences with names, of which a few come again and again, as in an article."""

    def __init__(self, population: Population, draw: Draw, named: UsedNames, home: Sequence[Name], words: int) -> None:
        self._draw = draw
        self._named = named
        self._cast = {role: draw.sample(population.roles[role], 2) for role in ROLES}
        self._cast["person"] = draw.sample(population.roles["person"], 3 + words // 70)
        self._cast["place"] = draw.sample(population.roles["place"], 3 + words // 120)
        for name in home:
            cast = self._cast[population.role_of(name)]
            cast[:] = [name, *(other for other in cast if other != name)]

    def fill(self, template: str) -> str:
        """Return the sentence of a template, and note its names."""
        chosen: dict[str, Name] = {}

        def replace(slot: re.Match[str]) -> str:
            role, number, case = slot[1], slot[2], slot[3] or "nom"
            if role in SPECIAL:
                return self._named.use(role, SPECIAL[role], case)
            if role == "surname":
                return self._surname()
            if role not in self._cast:
                return amount(role, self._draw, self._named.language)
            if role + number not in chosen:
                chosen[role + number] = self._draw.pick([n for n in self._cast[role] if n not in chosen.values()])
            return self._named.use(role, chosen[role + number], case)

        return _SLOT.sub(replace, template)

    def _surname(self) -> str:
        last = self._named.last_person
        assert last is not None  # such sentences only follow one that names a person
        self._named.also.add((NameKind.PERSON, last.family))
        return last.family


def amount(role: str, draw: Draw, language: str) -> str:
    """Return what fills a slot that is no name: a number, a year, a sum, a date or a month."""
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
    return makers[role]()


def money(thousands: int, units: int, language: str) -> str:
    """Return a sum of euros, with the digits grouped as in the language."""
    return f"{thousands} {units:03} eurot" if language == "et" else f"{thousands},{units:03} euros"


def date(day: int, month: int, language: str) -> str:
    """Return a day of 2026; in Estonian in the case for "on that day"."""
    if language == "et":
        return f"{day}. {estonian.MONTHS_GENITIVE[month]}l 2026"
    return f"{day} {english.MONTHS[month]} 2026"


def compose(population: Population, spec: TextSpec) -> Text:
    """Return the text of a specification; one that changes with the clock is made of items of the last versions."""
    named = UsedNames(spec.language)
    if spec.version is None:
        draw = Draw("text", spec.seed, spec.key)
        paragraphs = _write(population, spec, draw, named, spec.topic, spec.words)
    else:
        paragraphs = []
        for back in range(_BLOCKS):
            draw = Draw("text", spec.seed, spec.key, spec.version - back)
            paragraphs += _write(population, spec, draw, named, draw.pick(TOPICS), spec.words // _BLOCKS)
    title = _title(spec, named, Draw("title", spec.seed, spec.key, spec.version))
    return Text(language=spec.language, title=title, paragraphs=tuple(paragraphs), truth=named.truth())


def _write(population: Population, spec: TextSpec, draw: Draw, named: UsedNames, topic: str, words: int) -> list[str]:
    writer = SentenceWriter(population, draw, named, spec.home, words)
    sentences: list[str] = []
    count = 0
    for template in _templates(spec, draw, topic, named):
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


def _templates(spec: TextSpec, draw: Draw, topic: str, named: UsedNames) -> Iterable[str]:
    """Yield templates of sentences without end, those on the topic first; none twice before all were used."""
    language = LANGUAGES[spec.language]
    on_topic = [t for t in language.SENTENCES.get(topic, language.TRAPS) if not spec.plain or _plain(t)]
    on_others = [t for name in TOPICS if name != topic for t in language.SENTENCES[name] if not spec.plain or _plain(t)]
    while True:
        first = on_topic if topic == "traps" else draw.sample(on_topic, len(on_topic))
        for template in (*first, *draw.sample(on_others, len(on_others))):
            yield template
            if named.last_person is not None and draw.chance(6):
                yield draw.pick(language.FOLLOWING)
            if draw.chance(22):
                yield draw.pick(language.GENERAL)


def _plain(template: str) -> bool:
    return not set(template) & set("šžŠŽ€")


def _title(spec: TextSpec, named: UsedNames, draw: Draw) -> str:
    """Return a headline with names of the text only, so that a reader who leaves headlines out misses no name."""
    templates = LANGUAGES[spec.language].TITLES[spec.topic]
    able = [t for t in templates if all(slot[1] in named.by_role for slot in _SLOT.finditer(t))]

    def replace(slot: re.Match[str]) -> str:
        return draw.pick(named.by_role[slot[1]]).form(slot[3] or "nom", spec.language)

    title = _SLOT.sub(replace, draw.pick(able))
    return title.upper() if spec.shout else title
