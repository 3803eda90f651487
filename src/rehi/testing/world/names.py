"""A name: a person, an organisation or a place of the practice web, in the forms that its sentences need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rehi.languages.kinds import NameKind
from rehi.testing.world.draw import Draw

# Added to the genitive, these make every case that the templates ask for.
_ENDINGS = {"all": "le", "ad": "l", "abl": "lt", "kom": "ga", "el": "st", "in": "s", "ill": "sse"}

FEMALE = (
    "Katrin", "Mari", "Liis", "Kadri", "Piret", "Triin", "Anneli", "Kristiina", "Maarja", "Helen", "Ülle", "Tiina",
    "Signe", "Õnne", "Kärt", "Pille", "Moonika", "Ingrid", "Reet", "Leelo", "Anna-Liisa", "Mari-Ann", "Virve", "Laine",
)  # fmt: skip
MALE = (
    "Kaspar", "Jaan", "Toomas", "Andres", "Peeter", "Tõnu", "Märt", "Rein", "Indrek", "Urmas", "Priit", "Siim", "Ants",
    "Kalev", "Jüri", "Ülo", "Mihkel", "Raivo", "Tarmo", "Lauri", "Karl-Erik", "Madis", "Tanel", "Väino",
)  # fmt: skip
# Two-part surnames are regular, and with these parts they never equal a place's name.
_FAMILY_FIRST = (
    "Lepa", "Kuuse", "Nurme", "Kalda", "Liiva", "Põllu", "Ranna", "Vahtra", "Lille", "Kulla", "Rohu", "Allika",
    "Jõe", "Pärna", "Oru", "Välja", "Hõbe", "Tuule",
)  # fmt: skip
_FAMILY_SECOND = (
    ("saar", "saare"), ("põld", "põllu"), ("puu", "puu"), ("kivi", "kivi"), ("sepp", "sepa"), ("mägi", "mäe"),
    ("mets", "metsa"), ("maa", "maa"),
)  # fmt: skip
_FAMILY_PLAIN = (
    ("Paio", "Paio"), ("Rebane", "Rebase"), ("Lepik", "Lepiku"), ("Ilves", "Ilvese"), ("Kask", "Kase"),
    ("Saar", "Saare"), ("Tamm", "Tamme"), ("Mägi", "Mäe"), ("Luik", "Luige"), ("Pihlak", "Pihlaku"),
)  # fmt: skip

# name, genitive, and whether one is "in" it (s) or "on" it (l)
PLACES = (
    ("Lepaoja", "Lepaoja", "l"), ("Kaldaveere", "Kaldaveere", "s"), ("Nurmesalu", "Nurmesalu", "s"),
    ("Kivirand", "Kiviranna", "s"), ("Mustaoja", "Mustaoja", "l"), ("Sillaotsa", "Sillaotsa", "s"),
    ("Rohujärv", "Rohujärve", "l"), ("Tõrvanõmm", "Tõrvanõmme", "l"), ("Hundiküla", "Hundiküla", "s"),
    ("Vanaveski", "Vanaveski", "s"), ("Liivaküla", "Liivaküla", "s"), ("Aidanurk", "Aidanurga", "l"),
    ("Haavarand", "Haavaranna", "s"), ("Sepaküla", "Sepaküla", "s"), ("Kureoja", "Kureoja", "l"),
    ("Pähkliveere", "Pähkliveere", "s"), ("Karusalu", "Karusalu", "s"), ("Uueküla", "Uueküla", "s"),
    ("Valgejärv", "Valgejärve", "l"), ("Kuusenõmm", "Kuusenõmme", "l"), ("Sooveere", "Sooveere", "s"),
    ("Õunaküla", "Õunaküla", "s"), ("Rehemaa", "Rehemaa", "l"), ("Tallinn", "Tallinna", "s"), ("Tartu", "Tartu", "s"),
    ("Võru", "Võru", "s"), ("Sillamäe", "Sillamäe", "l"), ("Narva", "Narva", "s"), ("Pärnu", "Pärnu", "s"),
    ("Viljandi", "Viljandi", "s"), ("Rakvere", "Rakvere", "s"), ("Haapsalu", "Haapsalu", "s"),
    ("Kuressaare", "Kuressaare", "s"), ("Keila", "Keila", "s"),
)  # fmt: skip
GENITIVE = {name: genitive for name, genitive, _ in PLACES}
TOWNS = ("Lepaoja", "Kaldaveere", "Nurmesalu", "Kivirand", "Mustaoja", "Sillaotsa", "Rohujärv", "Tõrvanõmm")
VILLAGES = ("Hundiküla", "Vanaveski", "Liivaküla", "Haavarand", "Kureoja", "Õunaküla")

_MINISTRIES = (
    ("Mereministeerium", "Ministry of the Sea"), ("Teedeministeerium", "Ministry of Roads"),
    ("Metsaministeerium", "Ministry of Forests"), ("Rahvakultuuriministeerium", "Ministry of Folk Culture"),
    ("Külaeluministeerium", "Ministry of Village Life"),
)  # fmt: skip
_COMPANIES = (
    "OÜ Merepiim", "AS Kuldkala", "OÜ Sadamasilm", "AS Rannaraud", "OÜ Tuuleveski Teed", "OÜ Kaspar", "AS Põhjasild",
    "OÜ Linamasin", "SA Rehemaa Haigla", "MTÜ Külaliikumine", "AS Metsamees ja Pojad", "OÜ Hõbekuusk",
    "SA Rannarahva Fond", "MTÜ Vanad Laevad", "AS Savikatus", "OÜ Õunamahl",
)  # fmt: skip
_INSTITUTIONS = (  # role, nominative, genitive, English
    ("school", "Gümnaasium", "Gümnaasiumi", "Gymnasium"), ("school", "Põhikool", "Põhikooli", "Basic School"),
    ("museum", "Muuseum", "Muuseumi", "Museum"), ("library", "Raamatukogu", "Raamatukogu", "Library"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a person, an organisation or a place, with its inflected forms."""

    kind: NameKind
    base: str
    english: str
    forms: Mapping[str, str] = field(compare=False, repr=False)
    family: str = field(default="", compare=False)

    def form(self, case: str, language: str) -> str:
        """Return the name in a case; in English it has one form only."""
        return self.forms[case] if language == "et" else self.english

    def key(self, language: str) -> tuple[NameKind, str]:
        """Return the kind and the basic form, as they should be recognised in a text."""
        return self.kind, self.base if language == "et" else self.english


def decline(nominative: str, genitive: str) -> dict[str, str]:
    """Return the forms of a regular name by case."""
    return {"nom": nominative, "gen": genitive} | {case: genitive + ending for case, ending in _ENDINGS.items()}


def person(given: str, family: str, genitive: str) -> Name:
    """Return the name of a person: only the family name is inflected."""
    full = f"{given} {family}"
    return Name(NameKind.PERSON, full, full, decline(full, f"{given} {genitive}"), family)


def place(name: str, genitive: str, inside: str) -> Name:
    """Return the name of a place: ``loc``, ``lat`` and ``sep`` are the cases for in, to and from it, inner or outer ones."""
    forms = decline(name, genitive)
    where, whither, whence = ("in", "ill", "el") if inside == "s" else ("ad", "all", "abl")
    forms |= {"loc": forms[where], "lat": forms[whither], "sep": forms[whence]}
    return Name(NameKind.PLACE, name, name, forms)


def organisation(nominative: str, genitive: str, english: str) -> Name:
    """Return the name of an institution: its last word is inflected."""
    return Name(NameKind.ORGANISATION, nominative, english, decline(nominative, genitive))


def company(name: str) -> Name:
    """Return the name of a company: the legal form before it takes the ending, as in "OÜ-le Merepiim"."""
    legal, own_name = name.split(" ", 1)
    stem = f"{legal}-i" if legal == "AS" else f"{legal}-"
    forms = {case: f"{stem}{ending} {own_name}" for case, ending in _ENDINGS.items()}
    return Name(NameKind.ORGANISATION, name, name, {"nom": name, "gen": name} | forms)


def _families() -> list[tuple[str, str]]:
    made = [(a + nominative, a + genitive) for a in _FAMILY_FIRST for nominative, genitive in _FAMILY_SECOND]
    return [*made, *_FAMILY_PLAIN]


# Names that are easily confused: three people of one surname, a woman whose surname is a village,
# and a woman and a village of the same name.
SPECIAL = {
    "kaspar": person("Kaspar", "Lepasaar", "Lepasaare"),
    "mart": person("Märt", "Lepasaar", "Lepasaare"),
    "onne": person("Õnne", "Lepasaar", "Lepasaare"),
    "laine": person("Laine", "Nurmesalu", "Nurmesalu"),
    "nurmesalu": place("Nurmesalu", "Nurmesalu", "s"),
    "linda": person("Linda", "Kivi", "Kivi"),
    "lindakivi": place("Linda Kivi", "Linda Kivi", "s"),
}


class Population:
    """All names of the practice web, by role."""

    def __init__(self, seed: int, people: int = 160) -> None:
        draw = Draw("people", seed)
        pairs = [(given, family) for given in (*FEMALE, *MALE) for family in _families()]
        persons = [person(given, *family) for given, family in draw.sample(pairs, people)]
        self.roles: dict[str, tuple[Name, ...]] = {
            "person": tuple(persons),
            "place": tuple(place(*row) for row in PLACES),
            "ministry": tuple(organisation(name, f"{name}i", english) for name, english in _MINISTRIES),
            "company": tuple(company(name) for name in _COMPANIES),
            "council": self._councils(),
            "school": self._institutions("school"),
            "museum": self._institutions("museum"),
            "library": self._institutions("library"),
        }

    def role_of(self, name: Name) -> str:
        """Return the role that a name has in the templates."""
        return next(role for role, names in self.roles.items() if name in names)

    @staticmethod
    def _councils() -> tuple[Name, ...]:
        rows = [(town, "Linnavalitsus", "Town Government") for town in TOWNS]
        rows += [(village, "Vallavalitsus", "Parish Government") for village in VILLAGES]
        return tuple(
            organisation(f"{GENITIVE[place_name]} {noun}", f"{GENITIVE[place_name]} {noun}e", f"{place_name} {english}")
            for place_name, noun, english in rows
        )

    @staticmethod
    def _institutions(role: str) -> tuple[Name, ...]:
        kinds = [row[1:] for row in _INSTITUTIONS if row[0] == role]
        return tuple(
            organisation(f"{GENITIVE[town]} {nominative}", f"{GENITIVE[town]} {genitive}", f"{town} {english}")
            for town in (*TOWNS, *VILLAGES[:2])
            for nominative, genitive, english in kinds
        )
