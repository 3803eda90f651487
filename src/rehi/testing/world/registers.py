"""A register: a table of people or companies, of which some rows change every day."""

from __future__ import annotations

from rehi.testing.world.draw import Draw
from rehi.testing.world.names import Name, Population
from rehi.testing.world.texts import LANGUAGES, Text, TextSpec, UsedNames, money

_TURN = 5  # a fifth of the rows changes with each version, so that most of a register stays as it was


def compile_register(population: Population, spec: TextSpec) -> Text:
    """Write a register of about ``spec.words`` words; the title says what it lists."""
    language = LANGUAGES[spec.language]
    kind = Draw("register", spec.seed, spec.key).pick(sorted(language.REGISTERS))
    named = UsedNames(spec.language)
    rows = [language.REGISTERS[kind]]
    count = 0
    while count < spec.words:
        rows.append(_row(population, spec, kind, len(rows), named))
        count += sum(len(cell.split()) for cell in rows[-1])
    title = {"people": ("Isikute register", "Register of people"), "companies": ("Ettevõtted", "Companies")}[kind]
    return Text(
        language=spec.language,
        title=title[spec.language == "en"],
        paragraphs=(),
        truth=named.truth(),
        rows=tuple(tuple(row) for row in rows),
    )


def _row(population: Population, spec: TextSpec, kind: str, number: int, named: UsedNames) -> tuple[str, ...]:
    version = ((spec.version or 0) + number) // _TURN
    draw = Draw("row", spec.seed, spec.key, number, version)
    language = LANGUAGES[spec.language]

    def use(role: str) -> str:
        name: Name = draw.pick(population.roles[role])
        return named.use(role, name, "nom")

    note = draw.pick(language.NOTES)
    if spec.plain:
        note = note.replace("„", '"').replace("“", '"')
    if kind == "people":
        return (
            str(number), use("person"), draw.pick(language.POSTS),
            use(draw.pick(("council", "school", "museum", "library"))), use("place"), note,
        )  # fmt: skip
    turnover = money(draw.number(3, 940), draw.number(1, 9) * 100, spec.language)
    return str(10_000_000 + draw.number(0, 899_999)), use("company"), use("person"), use("place"), turnover, note
