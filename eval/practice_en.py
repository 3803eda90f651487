"""Practice sentences in English: administrative and news prose of our own, with names made up on the spot.

The free corpora at hand are court decisions and chat. These sentences teach the model the prose in between; the names
are made of syllables, so that it learns their surroundings and not the names.
"""

from __future__ import annotations

import random
import re

from rehi.languages.people import given_names

_TEMPLATES = """
{P}, mayor of {L}, opened the new library on Monday.
The mayor of {L}, {P}, said that the road will be finished in May.
{P} was elected chair of the {O} yesterday.
The {O} announced a grant for schools in {L} and {L}.
According to {P}, head of the {O}, the figures are wrong.
{O} has published its annual report.
The report by {O} was presented to {O} in {L}.
"We are ready," said {P}.
"The work goes on," {F} added.
{F} told reporters that nothing had changed.
Residents of {L} asked the {O} for a new bus line.
The meeting between {P} and {P} took place in {L}.
{P} and {P} signed the agreement on behalf of {O}.
{P} ({O}) spoke about open data.
Contact: {P}, {O}, {L}.
The company {C} will build a bridge near {L}.
{C} employs 40 people in {L}, most of them from {L}.
Last year {C} sold its factory to {C}.
The contract was awarded to {C}.
The river runs from {L} to {L} past {L}.
A storm hit {L} and the villages around {L} on Friday.
Dr {P} of the {O} studies old maps.
Professor {P} gave a lecture at the {O}.
Minister {P} visited {L} last week.
Ms {F} works at {O}.
Mr {F} declined to comment.
The {O} in {L} is open on weekdays.
Born in {L}, {P} studied at the {O} and moved to {L} in 1998.
{G} and {G} walked from {L} to the coast.
The exhibition was put together by {P}.
Photo: {P}
Author: {P}
Editor: {P}, {O}
Minutes were taken by {P}.
Present: {P}, {P}, {P} and {P}.
The {O} thanks {P} for her help.
In {L}, prices rose by 4 per cent.
Trains between {L} and {L} will be late.
The decision was signed by {P}, director of {O}.
{L} has 12,000 inhabitants.
{L} lies north of {L}.
{F}'s proposal was supported by the {O}.
{P}'s letter reached {L} in March.
The {O}'s budget grew.
The data come from {O} and are published every month.
The dataset is maintained by the {O} on behalf of {L}.
Permits are issued by the {O}.
Council member {P} asked why {C} had been chosen.
After the fire in {L}, {P} wrote to the {O}.
The court in {L} fined {C} 2,000 euros.
The prize went to {P} from {L}.
Visitors from {L} came to see {P} at the {O}.
The {O} and the {O} agreed on a plan.
Please write to {P} at the {O}.
The village of {L} celebrates its fair in June.
The town of {L} and the {O} have opened a fund.
The new director, {P}, takes office in August.
Researchers at the {O} counted birds on the island of {L}.
The market in {L} opens at eight.
Open Data Day was held in {L}.
The Minutes of the Meeting are kept in the Archive.
Annual Report and Accounts
All Rights Reserved
Terms of Use and Privacy Policy
On Monday and Tuesday the office is closed.
The Act entered into force in January.
Read More About This Story
The English and Estonian versions are equal.
This page was last changed on 3 March.
Applications can be sent until Friday.
{P}, an engineer at {C}, measured the ice on {L}.
{P}, who teaches in {L}, won the race.
{P} from {O} answered the questions.
{P} lives in {L} with her family.
{P} thanked everybody who came.
{P} met {P} in {L} on 3 March 2018.
The ferry between {L} and {L} was late again.
The road from {L} to {L} is closed for 12 days.
Pupils of the {O} visited {L}.
Old photographs were given to the {O} by {O}.
The fishermen of {L} sold their boats.
People in {L} read more than people in {L}.
Goods are carried from {L} to {L} by rail.
The show was opened by {P} and {P}.
{C} and {C} will work together.
{C} was founded by {P} in 1991.
The owner of {C}, {P}, lives near {L}.
The tender was won by {C}, based in {L}.
{O}, {O} and {C} took part.
Questions are answered by {P}.
Mistakes should be reported to {P} or to {O}.
{L}: the harbour is open
{L} gets a new school
{P} retires
{O} opens its doors
The weather in {L} was fair, but {L} had rain.
{L}, {L} and {L} share one fire brigade.
The doctor, {P}, sees patients in {L} twice a week.
The bus stops in {L} every other week.
It is 12 kilometres from {L} to {L}.
""".strip().split("\n")


def _choices(text: str, nothing: int = 0) -> list[str]:
    """The words of a text, and as many times nothing."""
    return text.split() + [""] * nothing


_ONSETS = _choices("b d f g h j k l m n p r s t v br dr gr kr tr st sl pr fl sk th", 1)
_NUCLEI = _choices("a e i o u aa ee oo ai ei au ia ea y ä õ ü ö")
_CODAS = _choices("n r l s m t k nd rs st ld ng ll", 4)
_FAMILY_ENDS = _choices("son man sen mäe maa ste vere la salu pere stein ton ley er well ford saar oja berg ik us", 8)
_PLACE_ENDS = _choices("ville burg ton ford stead maa mäe küla vere la nurme salu linna saare stad holm", 8)
_BODIES = """Ministry of {n}|{l} {n} Board|{l} Town Council|{l} City Council|{l} Parish Council|{l} Museum|University of {l}
{l} University|{l} {n} Agency|{n} Agency|{n} Board|Department of {n}|Institute of {n}|{l} Institute of {n}|{l} Library
National Library of {l}|{l} Town Library|{l} School|{l} Hospital|{l} Theatre|{n} Inspectorate|{l} {n} Society|{n} Foundation
{n} Association|{l} Chamber of {n}|{l} {n} Centre|Bank of {l}|{l} Town Government|{l} Municipality Government|{l} Heritage Society
Office of {n}|{l} Orchestra|{l} Village Society|{l} {n} Club|{l} Dairy|{l} Police|{l} Football Club|{l} County Court|{l} Gymnasium|{l} Basic School|{l} Parish Government|Ministry of the {n}|{l} Archive""".replace(
    "\n", "|"
).split("|")
_FIELDS = _choices(
    "Health Transport Culture Finance Education Defence Agriculture Statistics Commerce Environment Justice Energy Labour "
    "Science Fisheries Forestry Language Weather Land Rescue Data Rowing Research Tourism Water Heritage Trade"
)
_SLOT = re.compile(r"\{(\w)\}")
_KINDS = {"P": "PER", "F": "PER", "G": "PER", "O": "ORG", "C": "ORG", "L": "LOC"}

Example = tuple[str, list[tuple[int, int, str]]]


def _word(chance: random.Random, ends: list[str]) -> str:
    syllables = "".join(
        chance.choice(_ONSETS) + chance.choice(_NUCLEI) + chance.choice(_CODAS) for _ in range(chance.choice((1, 1, 2)))
    )
    return (syllables + chance.choice(ends)).capitalize()


def _name(slot: str, chance: random.Random, given: list[str]) -> str:
    first = chance.choice(given).title() if chance.random() < 0.65 else _word(chance, [""])
    family = _word(chance, _FAMILY_ENDS)
    place = _word(chance, _PLACE_ENDS)
    if slot == "P":
        middle = chance.choice(["", "", "", "", f" {first[0]}.", "-" + _word(chance, [""])])
        return f"{first}{middle} {family}"
    if slot == "F":
        return family
    if slot == "G":
        return first
    if slot == "L":
        return chance.choice(
            [place, place, place, place, f"{place} County", f"Lake {place}", f"New {place}", f"{place} Street"]
        )
    if slot == "C":
        form = chance.choice(["{} Ltd", "{} OÜ", "AS {}", "{} Inc", "{} Group", "OÜ {}", "{} & Sons", "{}", "{} Bank"])
        return form.format(f"{place} {chance.choice(_FIELDS)}" if chance.random() < 0.4 else place)
    return chance.choice(_BODIES).format(n=chance.choice(_FIELDS), l=place)


def practice(count: int, seed: int) -> list[Example]:
    """Sentences with their names by offsets; the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - practice, not secrets
    given = sorted(given_names())
    made: list[Example] = []
    for _ in range(count):
        template, text, names, at = chance.choice(_TEMPLATES), "", [], 0
        for slot in _SLOT.finditer(template):
            text += template[at : slot.start()]
            name = _name(slot.group(1), chance, given)
            names.append((len(text), len(text) + len(name), _KINDS[slot.group(1)]))
            text += name
            at = slot.end()
        made.append((text + template[at:], names))
    return made
