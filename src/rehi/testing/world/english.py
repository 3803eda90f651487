"""The English of the practice web: its sentences and headlines, with slots for names."""

from __future__ import annotations

SENTENCES: dict[str, tuple[str, ...]] = {
    "council": (
        "On {date} {council} decided to give {money} to the village society of {place}.",
        "The chair of the council, {person}, said that the budget would be adopted before the end of {month}.",
        "According to {person}, nothing of the kind had been planned in {place} before.",
        "The draft was submitted by the {ministry}, and {council} was asked for its opinion.",
        "The meeting was led by {person}, while {person2} kept the minutes.",
        "A public discussion will be held in {place} on {date} in the large hall.",
        "The contract was signed by {person} and {person2}.",
    ),
    "roads": (
        "The {ministry} will soon begin to repair the road between {place} and {place2}.",
        "The work is done by {company}, and {person} is responsible for supervision.",
        "A new bridge in {place} will be ready by the autumn of {year}.",
        "Buses from {place} to {place2} follow a temporary timetable.",
        "Traffic will be restricted for {number} days, said {person} of the {ministry}.",
        "Old boundary stones found by the road were handed over to {museum}.",
    ),
    "school": (
        "{school} will admit {number} new pupils in the autumn.",
        "The head of the school, {person}, thanked teachers and parents for a long year.",
        "The mathematics contest was won by {person}, and {person2} came second.",
        "The choir of {school} will sing in {place} on {date}.",
        "{person} has taught at {school} for {number} years.",
        "The roof of the schoolhouse was mended by {company}.",
    ),
    "culture": (
        "{museum} opens an exhibition on {date} about the fishermen of {place}.",
        "The exhibition was put together by {person} and designed by {person2}.",
        "The collection rests on objects given by the family of {person}.",
        "At the concert in {place} the soloists are {person} and {person2}.",
        "The {ministry} set aside {money} for amateur groups.",
        "A summer play will be staged in the old manor park of {place}.",
    ),
    "economy": (
        "{company} is building a new factory in {place}.",
        "A member of the board, {person}, said that {number} people would find work there.",
        "The turnover of {company} was {money} last year.",
        "The firm was founded by {person} and {person2} in {year}.",
        "Goods are shipped from {place} to {place2}.",
        "{company} and {company2} have agreed to work together.",
        "When the factory in {place} was opened, the speech was given by {person}.",
    ),
    "nature": (
        "The beach of {place} is open for swimming from the middle of {month}.",
        "Bird watcher {person} counted {number} swans in {place}.",
        "A hiking trail of {number} kilometres leads from {place} to {place2}.",
        "After the storm {number} households in {place} were without power.",
        "Pupils of {school} planted trees together with forester {person}.",
        "The state of the river was assessed by {person}, a biologist at {museum}.",
    ),
    "library": (
        "{library} is also open on Saturdays, said its director {person}.",
        "New books were bought for {money}.",
        "On the readers' day the guests are {person} and {person2}.",
        "The mobile library stops in {place} and in {place2} every other week.",
        "Old newspapers were given to {library} by {museum}.",
    ),
    "health": (
        "Doctor {person} sees patients in {place} on Wednesdays.",
        "The run from {place} to {place2} was won by {person}.",
        "Second place went to {person}, third place to {person2}.",
        "The sports hall in {place} is being built by {company}.",
        "The medals were handed out by {person} on behalf of {council}.",
    ),
    "data": (
        "The {ministry} has published the register as open data.",
        "The data are updated every day, and questions are answered by {person}.",
        "The table has {number} rows and covers the time up to {year}.",
        "The dataset was paid for by the {ministry} and compiled by {company}.",
        "Mistakes should be reported to {person} or to {council}.",
    ),
}

GENERAL: tuple[str, ...] = (
    "A more exact timetable will be known in the coming weeks.",
    "Everyone who cares about the matter is welcome.",
    "Admission is free for all.",
    "The decision may be contested within thirty days.",
    "If the weather allows, the work will end in the autumn.",
    "Further information can be had by telephone and on the spot.",
    "Proposals are welcome until the end of the month.",
    "All documents are public and may be used freely.",
    "Last year there was far less interest.",
    "The costs are spread over two years.",
    "The report will be confirmed at the next sitting.",
    "In earlier days the same work was done by hand and took several weeks.",
)

# Sentences on the person who was named last.
FOLLOWING: tuple[str, ...] = (
    "{surname} added that the work had gone well.",
    "{surname} did not wish to foretell the future.",
    "When asked about the money, {surname} said that there was enough.",
)

TRAPS: tuple[str, ...] = (
    "Although they share a surname, {kaspar}, {mart} and {onne} are not related.",
    "As the ferry left, {kaspar} was asked about the assets of the association.",
    "{laine} was born in {nurmesalu} and still lives there.",
    "{linda} wrote a story about the bus stop in {lindakivi}.",
    "Brown paper covered the windows, and a young baker stood at the door.",
    "Will power alone does not mend a bridge.",
    "May was wet, and March had been cold.",
    "Hope was all that the hunters had left.",
)

TITLES: dict[str, tuple[str, ...]] = {
    "council": ("{council} discussed the budget", "Summary of the council meeting"),
    "roads": ("The road to {place} will be repaired", "A new bridge and old stones"),
    "school": ("{school} is waiting for pupils", "The school year ends"),
    "culture": ("{museum} invites visitors", "A summer full of music in {place}"),
    "economy": ("{company} is growing", "A new factory in {place}"),
    "nature": ("Beach and forest in {place}", "Spring has come"),
    "library": ("News from {library}", "New books have come"),
    "health": ("A run on the roads of {place}", "Health day is here again"),
    "data": ("The data are open now", "How to read the register"),
    "traps": ("The story of one name", "Names that mislead"),
}

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
MONTHS_GENITIVE = MONTHS

FRAME = {
    "home": "Home", "news": "News", "documents": "Documents", "contact": "Contact", "search": "Search",
    "more": "Read more", "about": "About us", "rights": "All rights reserved", "author": "Author",
    "cookies": "This site uses cookies.", "comments": "What readers think", "skip": "Skip to content",
    "comment": "Good news, we can hardly wait.", "published": "Published",
}  # fmt: skip

REGISTERS: dict[str, tuple[str, ...]] = {
    "people": ("No", "Name", "Post", "Organisation", "Place", "Note"),
    "companies": ("Code", "Company", "Board member", "Seat", "Turnover", "Note"),
}
POSTS = ("adviser", "director", "accountant", "specialist", "manager", "archivist", "engineer", "researcher")
NOTES = (
    "The entry has been checked and holds until further notice.",
    "Answers questions on working days; letters are answered within five days.",
    'For the contract see the annex marked "for public use".',
    "The entry was corrected, because the address was out of date.",
    "The earlier entry is kept, but it is no longer updated.",
)
