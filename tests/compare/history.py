"""A history made by hand: pages, tables, trees and files with two or more versions, some of which mean no good."""

from __future__ import annotations

from pathlib import Path

from rehi.app import House
from rehi.settings import Settings, load_settings
from tests.keeper import Keeper, at

PAGE = "http://www.rehemaa.test/juhtkond"
TABLE = "http://andmed.test/vallad.csv"
JSON = "http://andmed.test/asutused.json"
FEED = "http://andmed.test/uudised.rss"
PLAIN = "http://andmed.test/nimekiri.txt"
BINARY = "http://andmed.test/pilt.bin"
TURNED = "http://andmed.test/muutus"  # a table that became a page
BROKEN = "http://andmed.test/katki.json"
MARKUP = "http://andmed.test/markeering"  # the same text in other markup
ONCE = "http://andmed.test/uks"
LATE = "http://andmed.test/hiline.txt"  # the version in the middle arrived last
EVIL = "http://kuri.test/tabel.csv?<script>alert(1)</script>"

_PAGE = """<!doctype html><html lang="et"><title>Juhtkond</title><body><main><h1>Rehemaa valla juhtkond</h1>
<p>Rehemaa vallavanem on {head}, kes juhib valda alates eelmise aasta sügisest ja elab Tartus.</p>
<p>Vallavalitsus tuleb kokku igal teisipäeval kell kümme vallamaja suures saalis.</p>
<p>Kõik istungid on avalikud ja nende protokollid avaldatakse valla kodulehel.</p>{more}</main></body></html>"""

TABLES = [
    "kood;nimi;elanikke\n101;Antsla;4514\n102;Rõuge;5437\n103;Setomaa;3428\n",
    "kood;nimi;elanikke\n103;Setomaa;3400\n101;Antsla;4514\n102;Rõuge;5437\n",
    "kood;nimi;elanikke;pindala\n103;Setomaa;3400;463\n101;Antsla vald;4514;411\n104;Võru vald;10854;952\n",
]
MARK = "<script>document.title = 'ran'</script>"


def furnish(keeper: Keeper) -> None:
    first = keeper.new(PAGE, _PAGE.format(head="Katrin Paio", more="").encode(), at(0))
    keeper.new(PAGE, _PAGE.format(head="Tõnu Õunapuu", more="").encode(), at(10), base=first.body)
    more = "<p>Abivallavanem on Mari Maasikas Tallinnast.</p>"
    keeper.new(PAGE, _PAGE.format(head="Tõnu Õunapuu", more=more).encode(), at(20))
    for days, text in enumerate(TABLES):
        keeper.new(TABLE, text.encode(), at(days), media_type="text/csv; charset=utf-8")
    for days, text in enumerate(['{"asutused": [{"id": 1, "nimi": "Kool"}, {"id": 2, "nimi": "Lasteaed"}]}',
                                 '{"asutused": [{"id": 2, "nimi": "Lasteaed Mesimumm"}, {"id": 3, "nimi": "Muuseum"}]}']):  # fmt: skip
        keeper.new(JSON, text.encode(), at(days), media_type="application/json")
    item = "<item><guid>{0}</guid><title>{1}</title></item>"
    for days, items in enumerate([[(1, "Kevad"), (2, "Suvi")], [(2, "Suvi läbi"), (3, "Sügis")]]):
        inside = "".join(item.format(*values) for values in items)
        feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>U</title>{inside}</channel></rss>'
        keeper.new(FEED, feed.encode(), at(days), media_type="application/rss+xml")
    for days, text in enumerate(["a\nb\nc\n", "a\nB\nc\nd\n"]):
        keeper.new(PLAIN, text.encode(), at(days), media_type="text/plain")
    for days in (0, 1):
        keeper.new(BINARY, bytes(range(256)) * 9 + bytes([days]), at(days), media_type="application/octet-stream")
    keeper.new(TURNED, TABLES[0].encode(), at(0), media_type="text/csv")
    keeper.new(TURNED, b"<!doctype html><title>Viga</title><p>Lehte ei ole</p>", at(1))
    for days, text in enumerate(['{"a": 1', '{"a": 2']):
        keeper.new(BROKEN, text.encode(), at(days), media_type="application/json")
    for days, text in enumerate(
        ["<p>Tere <b>tulemast</b> siia lehele", "<div class=x>Tere <i>tulemast</i> siia lehele"]
    ):
        keeper.new(MARKUP, f"<!doctype html><title>T</title>{text}".encode(), at(days))
    keeper.new(ONCE, b"<p>Ainult kord", at(0))
    for days, text in ((0, "esimene\n"), (10, "kolmas\n"), (5, "teine\n")):
        keeper.new(LATE, text.encode(), at(days), media_type="text/plain")
    for days in (0, 1):
        rows = "".join(f"{n},{MARK}{n},x{days if n == 3 else ''}\n" for n in range(900))
        keeper.new(EVIL, f"id,{MARK},\x1b[31mpunane\n{rows}".encode(), at(days), media_type="text/csv")


def past_in(folder: Path) -> Settings:
    """A data folder with all that, and its settings."""
    settings = load_settings(data=folder)
    with House(settings) as house:
        keeper = Keeper(house)
        furnish(keeper)
        keeper.close()
    return settings
