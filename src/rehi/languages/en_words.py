"""Word lists of English that tell whether a capitalised word beside them is a person, an organisation or a place."""

from __future__ import annotations

from rehi.languages.word_lists import word_list

TITLES = word_list(
    "mr mrs ms miss dr prof professor sir lady lord president minister mayor senator judge captain general colonel "
    "director chairman chairwoman chair secretary editor archivist librarian curator teacher engineer elder"
)
ORGANISATION = word_list(
    "academy agency archive archives association authority bank board bureau centre center chamber church club "
    "college commission committee company corporation council court dairy department directorate federation "
    "foundation fund gallery government group gymnasium hospital inspectorate institute kindergarten laboratory "
    "league library limited ltd llc inc gmbh ministry museum network office orchestra organisation organization "
    "parish parliament party police press registry school service society theatre theater trust tribunal union "
    "university works workshop plc co corp"
)
# Of these, the ones that make an organisation of any capitalised words before them.
DECISIVE = word_list(
    "academy agency archive archives association authority bank board bureau chamber club college commission "
    "committee company corporation council department directorate federation foundation gallery government "
    "gymnasium hospital inspectorate institute kindergarten library ministry museum orchestra parliament school "
    "society theatre theater trust tribunal university"
)
PLACE = word_list(
    "airport bay beach bridge city coast county district forest harbour harbor hill hills island islands lake "
    "municipality mountain mountains park peninsula port province region republic river road sea square state "
    "states street town valley village"
)
WHERE = word_list("in at near from to of between through around across outside towards toward into")
ARTICLES = frozenset({"the", "a", "an"})

# Capitalised words that name a time, not a person or a place.
TIMES = word_list(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december easter christmas"
)
