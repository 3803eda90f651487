"""Word lists that correct what a name stands for. They hold for whole words, never for parts of them.

A list of substrings made a company of every Kaspar ("as") once.
"""

from __future__ import annotations

# The forms of companies and associations. Not "TÜ": it is Tartu Ülikool more often than a tulundusühistu.
COMPANY = frozenset("AS OÜ SA MTÜ UÜ KÜ FIE SIA UAB Ltd Inc GmbH LLC Oy".split())

# The last word of an organisation's name, or the last part of it as a compound: "Linnavalitsus", "Keskkonnaamet".
ORGANISATION = frozenset(
    "agentuur akadeemia amet ansambel arhiiv assotsiatsioon büroo erakond fond föderatsioon grupp gümnaasium haigla "
    "inspektsioon instituut kantselei keskus kirjastus klubi kogudus kohus kolledž komisjon komitee konservatoorium "
    "kontsern koor kool koda lasteaed liiga liit meierei ministeerium muuseum nõukogu ookeanaarium orkester osakond pank "
    "parlament partei politsei prefektuur prokuratuur raamatukogu ringhääling ringkond saatkond selts seltskond "
    "sihtasutus tehas teater toimetus trükikoda töökoda valitsus vallavalitsus volikogu võrgustik ühendus ühing ühistu "
    "ülikool ümarlaud".split()
)

# States are places although they are unions: "Euroopa Liit", "Vene Föderatsioon".
UNIONS = frozenset({"liit", "föderatsioon", "ühendus"})

# Nouns that make an organisation with a place before them even when written small: "Tallinna linnavalitsus".
CIVIC = frozenset(
    "linnavalitsus vallavalitsus maavalitsus linnavolikogu vallavolikogu volikogu ülikool gümnaasium põhikool keskkool "
    "raamatukogu muuseum haigla ringkonnakohus maakohus halduskohus linnakohus politseiprefektuur "
    "prokuratuur".split()
)

# The last word of a place's name.
PLACE = frozenset(
    "alev alevik jõgi järv küla laht linn linnaosa maakond maantee mägi oja org park poolsaar puiestee raba rand saar sild "
    "sadam tänav vald väljak".split()
)
PLACE_ENDING = "maa"  # as the last part of a compound: "Rehe_maa"
