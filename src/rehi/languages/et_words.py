"""Word lists of Estonian that decide the kind of a name. They hold for whole words or whole parts of compounds."""

from __future__ import annotations

from rehi.languages.word_lists import word_list

# The last word of an organisation's name, or the last part of it as a compound: "Linnavalitsus", "Keskkonnaamet".
ORGANISATION = word_list(
    "agentuur akadeemia amet ansambel arhiiv assotsiatsioon büroo erakond fond föderatsioon grupp gümnaasium haigla "
    "inspektsioon instituut kantselei keskus kirjastus klubi kogudus kohus kolledž komisjon komitee konservatoorium "
    "kontsern koor kool koda lasteaed liiga liit meierei ministeerium muuseum nõukogu ookeanaarium orkester osakond "
    "pank parlament partei politsei prefektuur prokuratuur raamatukogu ringhääling ringkond saatkond selts "
    "sihtasutus tehas teater toimetus trükikoda töökoda valitsus volikogu võrgustik ühendus ühing ühistu ülikool"
)

# Bodies that are named by themselves, whoever stands before them: "ütles Mari Tamm Keskkonnaministeeriumist".
STANDING = frozenset({"ministeerium"})
# Bodies that no person gave a name to, as schools and theatres have it: a person's name before them is not part of theirs.
GOVERNING = STANDING | {"valitsus", "volikogu", "amet", "inspektsioon", "kohus"}

# States are places although they are unions: "Euroopa Liit", "Vene Föderatsioon".
UNIONS = frozenset({"liit", "föderatsioon", "ühendus"})

# Nouns that make an organisation with a place before them even when written small: "Tallinna linnavalitsus".
CIVIC = word_list(
    "linnavalitsus vallavalitsus maavalitsus linnavolikogu vallavolikogu volikogu ülikool gümnaasium põhikool "
    "keskkool raamatukogu muuseum haigla ringkonnakohus maakohus halduskohus linnakohus politseiprefektuur "
    "prokuratuur"
)

# The last word of a place's name.
PLACE = word_list(
    "alev alevik jõgi järv küla laht linn linnaosa maakond maantee mägi oja org park poolsaar puiestee raba rand "
    "saar sild sadam tänav vald väljak"
)

# The last part of a place's name that is a compound: "Hundi_küla", "Tõrva_nõmm". Many families are called so too.
PLACE_PARTS = PLACE | word_list("maa nõmm nurk salu soo veere vere laid neem niit nurme mõis mõisa veski ots veer")
# Of these, parts that a place's name keeps in the genitive: "Sillaotsa", "Kaldaveere".
KEPT_IN_GENITIVE = frozenset({"ots", "veer"})
