"""The Estonian of the practice web: its sentences and headlines, with slots for names.

A slot is a role, perhaps a number to tell two of a role apart, and perhaps a case: ``{person2:gen}``.
"""

from __future__ import annotations

SENTENCES: dict[str, tuple[str, ...]] = {
    "council": (
        "{council} otsustas {date} anda {place:gen} külaseltsile {money} toetust.",
        "Volikogu esimees {person} ütles, et eelarve võetakse vastu enne {monthgen} lõppu.",
        "{person:gen} sõnul ei ole {place:loc} sellist ehitust varem kavandatud.",
        "Määruse eelnõu esitas {ministry}, arvamust paluti ka {council:abl}.",
        "Koosolekut juhatas {person}, protokolli kirjutas {person2}.",
        "Avalik arutelu toimub {date} {place:loc} rahvamaja suures saalis.",
        "Vallavanem {person} kohtus {place:gen} elanikega ja lubas tänavavalgustuse korda teha.",
        "{council} kuulutas välja hanke, mille eeldatav maksumus on {money}.",
        "Lepingu allkirjastasid {person} ja {person2}.",
    ),
    "roads": (
        "{ministry} alustab peagi {place:gen} ja {place2:gen} vahelise tee remonti.",
        "Töid teeb {company}, järelevalve eest vastutab {person}.",
        "Uus sild valmib {place:loc} {year}. aasta sügiseks.",
        "Ümbersõit kulgeb läbi {place:gen} ja on selgelt märgistatud.",
        "Bussid {place:sep} {place2:lat} sõidavad ajutise sõiduplaani järgi.",
        "{company:gen} projektijuhi {person:gen} hinnangul saab teekate valmis enne talve.",
        "Liiklust piiratakse {number} päeva, ütles {person} {ministry:el}.",
        "Teeservast leitud vanad piirikivid anti üle {museum:all}.",
    ),
    "school": (
        "{school} võtab sügisel vastu {number} uut õpilast.",
        "Direktor {person} tänas õpetajaid ja lapsevanemaid pika õppeaasta eest.",
        "Õpilaste tööde näitus on {place:loc} avatud kogu {monthgen} vältel.",
        "Matemaatikavõistluse võitis {person}, teise koha sai {person2}.",
        "{school:gen} koor esineb {date} {place:loc}.",
        "Õpetaja {person} on töötanud {school:in} {number} aastat.",
        "Koolimaja katuse parandas {company}.",
        "Kokkutulekule oodatakse {place:lat} kõiki endisi õpilasi.",
    ),
    "culture": (
        "{museum} avab {date} näituse, mis räägib {place:gen} kaluritest.",
        "Näituse koostas {person}, kujunduse tegi {person2}.",
        "Kogu aluseks on esemed, mille kinkis {person:gen} perekond.",
        "{museum:gen} teadur {person} uurib vanu talukaarte.",
        "Kontserdil {place:loc} laulavad {person} ja {person2}.",
        "Raamatut esitletakse {date}, autoriga vestleb {person}.",
        "Rahvamajade ringide jaoks eraldas {ministry} {money}.",
        "Suveetendus tuuakse välja {place:gen} vanas mõisapargis.",
        "Žürii, mida juhtis {person}, valis parimaks {place:gen} kandleansambli.",
    ),
    "economy": (
        "{company} ehitab {place:lat} uue tootmishoone.",
        "Juhatuse liige {person} ütles, et tööd saab {number} inimest.",
        "{company:gen} müügitulu oli mullu {money}.",
        "Ettevõtte asutasid {person} ja {person2} {year}. aastal.",
        "Kaup veetakse {place:sep} laevaga {place2:lat}.",
        "{company} ja {company2} sõlmisid koostöölepingu.",
        "Nõukogu uueks esimeheks valiti {person}.",
        "{council:gen} arendusnõuniku {person:gen} sõnul on tööstusalal veel vabu krunte.",
        "Tehase avamisel {place:loc} kõneles {person}.",
        "Garaaži ja laohoone müüs {company} enampakkumisel.",
    ),
    "nature": (
        "{place:gen} rand on ujumiseks avatud {monthgen} keskpaigast.",
        "Linnuvaatleja {person} luges {place:loc} kokku {number} luike.",
        "Kaitseala piire muudab {ministry}, ettepaneku tegi {person}.",
        "Matkarada viib {place:sep} {place2:lat} ja on {number} kilomeetrit pikk.",
        "Tormi järel jäi {place:loc} elektrita {number} majapidamist.",
        "Metsa istutasid {school:gen} õpilased koos metsnik {person:kom}.",
        "Jõe seisundit hindas {museum:gen} bioloog {person}.",
        "Vihmane kevad tõi {place:loc} kaasa suurvee.",
    ),
    "library": (
        "{library} on avatud ka laupäeviti, ütles juhataja {person}.",
        "Uute raamatute ostmiseks kulus {money}.",
        "Lugejate päeval esinevad {person} ja {person2}.",
        "{library:gen} kogus on {number} tuhat köidet.",
        "Raamatubuss peatub {place:loc} ja {place2:loc} üle nädala.",
        "Vanad ajalehed andis {museum} üle {library:all}.",
        "Kodulookonverentsil {place:loc} peab ettekande {person}.",
    ),
    "health": (
        "Perearst {person} võtab {place:loc} patsiente vastu kolmapäeviti.",
        "Jooksu {place:sep} {place2:lat} võitis {person}.",
        "Teisena lõpetas {person}, kolmandana {person2}.",
        "Spordihoone {place:loc} ehitab {company}.",
        "Medalid andis üle {council:gen} esindaja {person}.",
        "Kiirabi jõudis {place:sep} kohale {number} minutiga.",
        "Ujula dušširuumid {place:loc} said uue põranda.",
        "Doonoripäev toimub {date} {place:loc}.",
    ),
    "data": (
        "{ministry} avaldas registri andmed avaandmetena.",
        "Andmeid uuendatakse iga päev ja küsimustele vastab {person}.",
        "Tabelis on {number} rida ja see katab ajavahemiku kuni {year}. aastani.",
        "Andmestiku valmimist rahastas {ministry}, töö tegi {company}.",
        "Vigadest palutakse teatada {person:all} või {council:all}.",
        "Andmed {place:gen} kohta kogus {person}.",
        "Päringu vastuse koostas {person} {council:el}.",
    ),
}

GENERAL: tuple[str, ...] = (
    "Täpsem ajakava selgub lähinädalatel.",
    "Kohale on oodatud kõik huvilised, kellele teema korda läheb.",
    "Sissepääs on kõigile tasuta.",
    "Otsuse peale saab esitada vaide kolmekümne päeva jooksul.",
    "Tööd lõpevad plaani järgi sügisel, kui ilm seda lubab.",
    "Lisateavet saab telefoni teel ja kohapeal.",
    "Ettepanekuid oodatakse kuni kuu lõpuni.",
    "Kõik dokumendid on avalikud ja neid võib vabalt kasutada.",
    "Ilm püsib lähipäevil külm ja tuuline.",
    "Hooneid köetakse edaspidi hakkpuiduga.",
    "Samal teemal on varem peetud mitu koosolekut.",
    "Kulud jagunevad kahe aasta peale.",
    "Aruanne kinnitatakse järgmisel istungil.",
    "Eelmisel aastal oli huvi tunduvalt väiksem.",
    "Parkida saab maja ees ja kõrvaltänavas.",
    "Varem tehti sama tööd käsitsi ja see võttis mitu nädalat.",
)

# Sentences on the person who was named last.
FOLLOWING: tuple[str, ...] = (
    "{surname} lisas, et tööga jäädi rahule.",
    "{surname} ei soovinud tulevikku ennustada.",
    "Küsimuse peale vastas {surname}, et raha on olemas.",
)

TRAPS: tuple[str, ...] = (
    "{kaspar}, {mart} ja {onne} ei ole sugulased, kuigi kannavad sama nime.",
    "Kaasas olid kassid, asjad ja aastatega kogunenud märkmed, mida {kaspar} oma kastis hoidis.",
    "{laine} sündis {nurmesalu:loc} ja elab seal tänini.",
    "{linda} on kirjutanud loo sellest, kuidas {lindakivi:lat} rajati bussipeatus.",
    "Kask oli langenud üle tee, nii et buss jäi hiljaks.",
    "Rebane jooksis üle hoovi ja kadus metsa.",
    "Saare tagant paistis majakas ja lahel seisis laev.",
    "Tamm, mille all peeti pidu, on üle saja aasta vana.",
    "Lepinguid näidati {onne:all} ja {mart:all} eraldi, sest nad ei tundnud teineteist.",
)

TITLES: dict[str, tuple[str, ...]] = {
    "council": ("{council} arutas eelarvet", "Volikogu istungi kokkuvõte", "{person}: tööd jätkub kõigile"),
    "roads": ("Tee {place:lat} läheb remonti", "{ministry} teatab liikluspiirangutest", "Uus sild ja vanad kivid"),
    "school": ("{school} ootab õpilasi", "Õppeaasta lõpp {place:loc}", "Kooli teated"),
    "culture": ("{museum} kutsub näitusele", "{place:gen} suvi on täis muusikat", "Kultuuriaasta ülevaade"),
    "economy": ("{company} laieneb", "Uus tehas {place:loc}", "Ettevõtjate päev"),
    "nature": ("{place:gen} rand ja mets", "Kevad jõudis kohale", "{person} loeb linde"),
    "library": ("{library} teatab", "Raamatubuss sõidab {place:lat}", "Uued raamatud"),
    "health": ("Jooks {place:gen} teedel", "Tervisepäev tuleb taas", "{person} tõi võidu koju"),
    "data": ("Andmed on nüüd avatud", "{ministry} avaldas andmestiku", "Registri kirjeldus"),
    "traps": ("Ühe nime lugu", "Nimed, mis eksitavad"),
}

MONTHS = (
    "jaanuar", "veebruar", "märts", "aprill", "mai", "juuni", "juuli", "august", "september", "oktoober", "november",
    "detsember",
)  # fmt: skip
MONTHS_GENITIVE = (
    "jaanuari", "veebruari", "märtsi", "aprilli", "mai", "juuni", "juuli", "augusti", "septembri", "oktoobri",
    "novembri", "detsembri",
)  # fmt: skip

FRAME = {
    "home": "Avaleht", "news": "Uudised", "documents": "Dokumendid", "contact": "Kontakt", "search": "Otsi",
    "more": "Loe ka", "about": "Asutusest", "rights": "Kõik õigused kaitstud", "author": "Autor",
    "cookies": "See leht kasutab küpsiseid.", "comments": "Lugejate arvamused", "skip": "Liigu sisu juurde",
    "comment": "Hea uudis, ootame juba pikisilmi.", "published": "Avaldatud",
}  # fmt: skip

REGISTERS: dict[str, tuple[str, ...]] = {
    "people": ("Jrk", "Nimi", "Amet", "Asutus", "Koht", "Märkus"),
    "companies": ("Kood", "Ettevõte", "Juhatuse liige", "Asukoht", "Käive", "Märkus"),
}
POSTS = ("nõunik", "direktor", "raamatupidaja", "spetsialist", "juhataja", "arhivaar", "insener", "teadur")
NOTES = (
    "Andmed on kontrollitud ja kehtivad kuni uue teateni.",
    "Vastab küsimustele tööpäeviti; kirjale vastatakse viie päeva jooksul.",
    "Lepingu kohta vaata lisa, mis on „avalikuks kasutamiseks“.",
    "Kanne parandati, sest aadress oli eksikombel vana.",
    "Varasem kanne on säilitatud, kuid seda enam ei uuendata.",
)
