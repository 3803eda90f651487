"""What the tests of replay have kept: a page with a history, files of all sizes, redirects, and pages that mean no good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rehi.app import House
from rehi.serve import running
from rehi.service import Service
from rehi.settings import load_settings
from tests.keeper import Keeper, at

PAGE = "http://www.rehemaa.test/teated/"
OLD, MIDDLE, NEW = b"<title>esimene</title>", b"<title>teine</title>" + b"!" * 3_000, b"<title>kolmas</title>"
QUERY = "http://www.rehemaa.test/otsi?b=2&a=%C3%B5|x&a=/../&c="
LINE = "http://www.rehemaa.test/a%0Ab%2Fc"
BARE = "http://www.rehemaa.test/otsi?"
LARGE = "http://www.rehemaa.test/suur.bin"
LARGE_BODY = Random(1).randbytes(3_000_000)
EMPTY = "http://www.rehemaa.test/tyhi"
EVIL = "http://kuri.test/"
PICTURE = "http://kuri.test/pilt.svg"
SCRIPT = "http://kuri.test/skript.js"
COOKIES = (
    ("Set-Cookie", "a=1"),
    ("Set-Cookie", "b=2"),
    ("Strict-Transport-Security", "max-age=1"),
    ("Content-Security-Policy", "default-src *"),
    ("Clear-Site-Data", '"*"'),
    ("Access-Control-Allow-Origin", "*"),
    ("Refresh", "0; url=http://elsewhere.test/"),
    ("Link", "<http://elsewhere.test/>; rel=preload"),
    ("Content-Disposition", "attachment; filename=x"),
    ("Service-Worker-Allowed", "/"),
    ("Bad name", "x"),
    ("Content-Encoding", "br"),
)
EVIL_BODY = b"""<!doctype html><title>before</title>
<img id=near src="pilt.svg"><img id=far src="/static/rehi.svg">
<base href="http://elsewhere.test/"><meta http-equiv=refresh content="0; url=/problems">
<script>
document.title = 'ran';
try { document.cookie = 'stolen=1'; localStorage.setItem('stolen', '1') } catch (error) { document.title += ' denied' }
fetch(location.protocol + '//' + location.host + '/api/status').then(answer => answer.json()).then(said => { document.title = 'read ' + said.totals.resources })
</script><script src="skript.js"></script>
<form id=form action="/sources" method=post><button>Win</button></form><p onclick="document.title='clicked'">Text"""
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><script>alert(1)</script><rect width="9" height="9"/></svg>'


def furnish(keeper: Keeper) -> None:
    first = keeper.new(PAGE, OLD, at(0), headers=COOKIES)
    keeper.unchanged(PAGE, at(1))
    keeper.new(PAGE, MIDDLE, at(10), base=first.body)
    keeper.new(PAGE, NEW, at(20))
    keeper.new(QUERY, b"otsing", at(0), media_type="text/plain")
    keeper.new(LINE, b"rida", at(0), media_type="text/plain")
    keeper.new(BARE, b"tyhi otsing", at(0), media_type="text/plain")
    keeper.new(LARGE, LARGE_BODY, at(0), media_type="application/x-tundmatu")
    keeper.new(EMPTY, b"", at(0), media_type="")
    keeper.redirect("http://rehemaa.test/", "/vana", at(0))
    keeper.redirect("http://rehemaa.test/vana", PAGE, at(5), status=307)
    keeper.redirect("http://rehemaa.test/halb", "javascript:alert(1)", at(5))
    keeper.new("http://koopia.test/x.html", OLD, at(3))
    keeper.new(EVIL, EVIL_BODY, at(0))
    keeper.new(PICTURE, SVG, at(0), media_type="image/svg+xml")
    keeper.new(SCRIPT, b"document.title = 'ran too'", at(0), media_type="text/javascript")


@dataclass(frozen=True, slots=True)
class KeptWeb:
    """A server over all that."""

    address: str
    house: House


@contextmanager
def kept_web(folder: Path) -> Iterator[KeptWeb]:
    """The server while it runs."""
    with House(load_settings(data=folder)) as house:
        keeper = Keeper(house)
        furnish(keeper)
        keeper.close()
        with running(house, Service(house), port=0) as address:
            yield KeptWeb(address, house)
