"""A register: a table of people or companies, of which some rows change every day."""

from __future__ import annotations

from rehi.testing.world.draw import Draw
from rehi.testing.world.names import Name, Population
from rehi.testing.world.texts import LANGUAGES, Named, Order, Text, money

_TURN = 5  # a fifth of the rows changes with each edition, so that most of a register stays as it was


def compile_register(population: Population, order: Order) -> Text:
    """Write a register of about ``order.words`` words; the title says what it lists."""
    language = LANGUAGES[order.language]
    kind = Draw("register", order.seed, order.key).pick(sorted(language.REGISTERS))
    named = Named(order.language)
    rows = [language.REGISTERS[kind]]
    count = 0
    while count < order.words:
        rows.append(_row(population, order, kind, len(rows), named))
        count += sum(len(cell.split()) for cell in rows[-1])
    title = {"people": ("Isikute register", "Register of people"), "companies": ("Ettevõtted", "Companies")}[kind]
    return Text(
        language=order.language,
        title=title[order.language == "en"],
        paragraphs=(),
        truth=named.truth(),
        rows=tuple(tuple(row) for row in rows),
    )


def _row(population: Population, order: Order, kind: str, number: int, named: Named) -> tuple[str, ...]:
    edition = ((order.edition or 0) + number) // _TURN
    draw = Draw("row", order.seed, order.key, number, edition)
    language = LANGUAGES[order.language]

    def use(role: str) -> str:
        name: Name = draw.pick(population.roles[role])
        return named.use(role, name, "nom")

    note = draw.pick(language.NOTES)
    if order.plain:
        note = note.replace("„", '"').replace("“", '"')
    if kind == "people":
        return (
            str(number), use("person"), draw.pick(language.POSTS),
            use(draw.pick(("council", "school", "museum", "library"))), use("place"), note,
        )  # fmt: skip
    turnover = money(draw.number(3, 940), draw.number(1, 9) * 100, order.language)
    return str(10_000_000 + draw.number(0, 899_999)), use("company"), use("person"), use("place"), turnover, note
