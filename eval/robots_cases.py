"""Cases: what a robots.txt says, to whom, of which URLs.

``GOOGLE`` holds the behaviour that Google's published tests ask for, in files and URLs of our own; ``RFC`` holds what RFC
9309 says beyond that, and what people write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_SITE = "http://barn.test"
_LONG = "/x/" + "a" * (8 * 2083 - 3 - len("disallow: "))
_LONG_A = "/x/" + "a" * (8 * 2083 - 3 - len("allow: "))
_LONG_B = "/x/" + "b" * (8 * 2083 - 3 - len("allow: "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question and its answer."""

    text: str
    agent: str
    url: str
    allowed: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """Some paths that a file allows one or several agents, and some that it doesn't."""

    text: str
    yes: str = ""  # paths, parted by spaces
    no: str = ""
    agents: str = "Barn"

    def cases(self) -> Iterator[Case]:
        """Each question by itself."""
        for agent in self.agents.split():
            for paths, allowed in ((self.yes, True), (self.no, False)):
                for path in paths.split():
                    yield Case(text=self.text, agent=agent, url=_SITE + path, allowed=allowed)


def _for_barn(*rules: str) -> str:
    return "\n".join(("user-agent: Barn", *rules, ""))


_GROUPS = """allow: /hay/loft/

user-agent: Barn
disallow: /
allow: /x/
user-agent: Loft
disallow: /
allow: /y/


allow: /w/
user-agent: Dray

user-agent: Barn
allow: /z/
disallow: /
"""
_ONLY_FISH = ("disallow: /", "allow: /fish")
_FISH = "/fish /fish.html /fish/salmon.html /fishheads /fishheads/yummy.html /fish.html?id=anything"

_GOOGLE_SHEETS = (
    # a line: a name, a colon and a value; the colon may be missing
    Sheet(_for_barn("disallow: /"), no="/x/y"),
    Sheet("hay: Barn\nstraw: /\n", yes="/x/y"),
    Sheet("user-agent Barn\ndisallow /\n", no="/x/y"),
    # groups: rules before the first are nobody's, those of one agent are put together
    Sheet(_GROUPS, agents="Barn", yes="/x/b /z/d", no="/y/c /hay/loft/"),
    Sheet(_GROUPS, agents="Loft", yes="/y/c /w/a", no="/z/d /hay/loft/"),
    Sheet(_GROUPS, agents="Dray", yes="/z/d", no="/hay/loft/"),
    Sheet("User-agent: Loft\nSitemap: https://barn.test/map\nUser-agent: *\nDisallow: /\n", no="/", agents="Barn Loft"),
    Sheet("User-agent: Barn\nNo-Such-Line: straw\nUser-agent: *\nDisallow: /\n", no="/", agents="Barn Loft"),
    # upper and lower case
    *(
        Sheet(text, yes="/x/y", no="/a/b")
        for text in (
            "USER-AGENT: Barn\nALLOW: /x/\nDISALLOW: /\n",
            "user-agent: Barn\nallow: /x/\ndisallow: /\n",
            "uSeR-aGeNt: Barn\nAlLoW: /x/\ndIsAlLoW: /\n",
        )
    ),
    *(
        Sheet(f"User-Agent: {name}\nAllow: /x/\nDisallow: /\n", yes="/x/y", no="/a/b", agents="Hay hay")
        for name in ("HAY LOFT", "hay loft", "HaY lOfT")
    ),
    Sheet(_for_barn("disallow: /x/"), no="/x/y"),
    Sheet(_for_barn("disallow: /X/"), yes="/x/y"),
    # a name ends at a space; the group for everybody is for those whom none names
    Sheet("User-Agent: *\nDisallow: /\nUser-Agent: Hay Loft\nAllow: /x/\nDisallow: /\n", yes="/x/y", agents="Hay"),
    Sheet("", yes="/x/y"),
    Sheet("user-agent: *\nallow: /\nuser-agent: Barn\ndisallow: /\n", no="/x/y"),
    Sheet("user-agent: *\nallow: /\nuser-agent: Barn\ndisallow: /\n", yes="/x/y", agents="Loft"),
    Sheet(
        "user-agent: Barn\nallow: /\nuser-agent: Loft\ndisallow: /\nuser-agent: Dray\ndisallow: /\n",
        yes="/x/y",
        agents="Rake",
    ),
    # the longest match decides, and Allow a draw
    Sheet(_for_barn("disallow: /x/page.html", "allow: /x/"), no="/x/page.html"),
    Sheet(_for_barn("allow: /x/page.html", "disallow: /x/"), yes="/x/page.html", no="/x/"),
    Sheet(_for_barn("disallow: ", "allow: "), yes="/x/page.html"),
    Sheet(_for_barn("disallow: /", "allow: /"), yes="/x/page.html"),
    Sheet(_for_barn("disallow: /x", "allow: /x/"), yes="/x/", no="/x"),
    Sheet(_for_barn("disallow: /x/page.html", "allow: /x/page.html"), yes="/x/page.html"),
    Sheet(_for_barn("allow: /page", "disallow: /*.html"), yes="/page", no="/page.html"),
    Sheet(_for_barn("allow: /x/page.", "disallow: /*.html"), yes="/x/page.html", no="/x/y.html"),
    Sheet("User-agent: *\nDisallow: /x/\nUser-agent: Barn\nDisallow: /y/\n", yes="/x/page", no="/y/page"),
    # letters beyond ASCII, and percent-encoding
    Sheet(
        _for_barn("Disallow: /", "Allow: /hay/loft?q=t&b=http://barn.test?t&p"),
        yes="/hay/loft?q=t&b=http://barn.test?t&p",
    ),
    Sheet(_for_barn("Disallow: /", "Allow: /hay/loft/õ"), yes="/hay/loft/%C3%B5", no="/hay/loft/õ"),
    Sheet(_for_barn("Disallow: /", "Allow: /hay/loft/%C3%B5"), yes="/hay/loft/%C3%B5", no="/hay/loft/õ"),
    Sheet(_for_barn("Disallow: /", "Allow: /hay/%62%61%7A"), yes="/hay/%62%61%7A", no="/hay/baz"),
    # stars, ends and comments
    Sheet(
        _for_barn("Disallow: /hay/loft/rye", "Allow: /hay/*/oat"),
        yes="/hay/rye /hay//rye /hay/lax/rye",
        no="/hay/loft/rye",
    ),
    Sheet(
        _for_barn("Disallow: /hay/loft$", "Allow: /hay/loft/oat"),
        yes="/hay/loft/oat /hay/loft/ /hay/loft/rye",
        no="/hay/loft",
    ),
    Sheet(_for_barn("# Disallow: /", "Disallow: /hay/rye#oat", "Allow: /"), yes="/hay/loft", no="/hay/rye"),
    # a folder's index is the folder
    Sheet(
        "User-Agent: *\nAllow: /shed/index.html\nDisallow: /\n",
        yes="/shed/ /shed/index.html",
        no="/shed/index.htm /other",
    ),
    # lines that are too long are cut
    Sheet(_for_barn(f"disallow: {_LONG}/oat"), yes="/oat", no=f"{_LONG}/rye"),
    Sheet(
        _for_barn("disallow: /", f"allow: {_LONG_A}/oat", f"allow: {_LONG_B}/oat"),
        yes=f"{_LONG_A}/oat {_LONG_B}/rye",
        no="/",
    ),
    # prefixes, stars and ends, at length
    Sheet(_for_barn(*_ONLY_FISH), yes=_FISH, no="/bar /Fish.asp /catfish /?id=fish"),
    Sheet(_for_barn("disallow: /", "allow: /fish*"), yes=_FISH, no="/bar /Fish.bar /catfish /?id=fish"),
    Sheet(
        _for_barn("disallow: /", "allow: /fish/"),
        yes="/fish/ /fish/salmon /fish/?salmon /fish/salmon.html /fish/?id=anything",
        no="/bar /fish /fish.html /Fish/Salmon.html",
    ),
    Sheet(
        _for_barn("disallow: /", "allow: /*.php"),
        yes="/name.php /dir/name.php /dir/name.php?some //dir/any.php.file.html /name.php/ /index?f=name.php/",
        no="/bar /php/ /index?php /windows.PHP",
    ),
    Sheet(
        _for_barn("disallow: /", "allow: /*.php$"),
        yes="/name.php /dir/name.php",
        no="/bar /name.php?some /name.php/ /name.php5 /php/ /name?php /aaaphpaaa //windows.PHP",
    ),
    Sheet(
        _for_barn("disallow: /", "allow: /fish*.php"),
        yes="/fish.php /fishheads/catfish.php?some",
        no="/bar /Fish.PHP",
    ),
    Sheet(_for_barn("allow: /p", "disallow: /"), yes="/page"),
    Sheet(_for_barn("allow: /dir", "disallow: /dir"), yes="/dir/page"),
    Sheet(_for_barn("allow: /page", "disallow: /*.htm"), no="/page.htm"),
    Sheet(_for_barn("allow: /$", "disallow: /"), yes="/", no="/page.html"),
)

GOOGLE: tuple[Case, ...] = (
    # nothing asked, or of nobody
    Case(text="", agent="Barn", url="", allowed=True),
    Case(text=_for_barn("disallow: /"), agent="", url="", allowed=True),
    Case(text=_for_barn("disallow: /"), agent="Barn", url="", allowed=False),
    Case(text="", agent="", url="", allowed=True),
    Case(
        text="User-Agent: *\nDisallow: /\nUser-Agent: Hay Loft\nAllow: /x/\nDisallow: /\n",
        agent="Hay Loft",
        url=f"{_SITE}/x/y",
        allowed=False,
    ),
    *(case for sheet in _GOOGLE_SHEETS for case in sheet.cases()),
)

_RFC_SHEETS = (
    Sheet(_for_barn("Disallow: /%7Ejoe/"), no="/~joe/a /%7Ejoe/a /%7ejoe/a"),
    Sheet(_for_barn("Disallow: /~joe/"), no="/~joe/a /%7Ejoe/a"),
    Sheet(_for_barn("Disallow: /a%3cd.html"), no="/a%3Cd.html /a%3cd.html", yes="/a"),
    Sheet(_for_barn("Disallow: /a<d"), no="/a%3Cd"),
    Sheet(_for_barn("Disallow: /a%2fb.html"), no="/a%2Fb.html", yes="/a/b.html"),
    Sheet(_for_barn("Disallow: /a b"), no="/a%20b"),
    Sheet(_for_barn("Disallow: /star-%2A.html"), no="/star-*.html /star-%2A.html", yes="/star-b.html"),
    Sheet(_for_barn("Disallow: /price-%24"), no="/price-$ /price-%24", yes="/price-"),
    Sheet(_for_barn("Disallow: /a$b"), no="/a$bc", yes="/a"),
    Sheet(_for_barn("Disallow: /**a**b***"), no="/xaxb", yes="/xbxa"),
    Sheet(_for_barn("Disallow: *.pdf$"), no="/a.pdf", yes="/a.pdf?x"),
    Sheet(_for_barn("Disallow: /a*b*c$"), no="/abc /axbxbxc /abcc", yes="/ab /acb /abcd"),
    Sheet(_for_barn("Disallow: /*aa$"), no="/aa /aaa", yes="/a"),
    Sheet(_for_barn("Disallow: hay"), yes="/hay"),
    Sheet(_for_barn("Disallow: /õun"), no="/%C3%B5un /%c3%b5un /õun", yes="/oun"),
    Sheet(_for_barn("Crawl-delay: 5", "Disallow: /a"), no="/a", yes="/b"),
    Sheet(_for_barn("Disalow: /a", "dissallow : /b", "Disallow\t/c"), no="/a /b /c", yes="/d"),
    Sheet("User agent: *\nDisallow: /a", no="/a"),
    Sheet("UserAgent: Barn/2.0\nDisallow: /a", no="/a"),
    Sheet("User-agent: Barn*\nDisallow: /a", no="/a"),
    Sheet("User-agent: Barn-owl\nUser-agent: Barnyard\nUser-agent: Ba\nDisallow: /a", yes="/a"),
    Sheet("User-agent: * # all of them\nDisallow: /a # not here", no="/a"),
    Sheet("User-agent: *\r\n\r\nDisallow: /a\r\nDisallow: /b\rDisallow: /c", no="/a /b /c", yes="/d"),
    Sheet("User-agent: *\nUser-agent: Barn\nDisallow: /a\nUser-agent: Barn\nDisallow: /b", no="/a /b"),
    Sheet("<!DOCTYPE html>\n<html><body>\n<p>Disallow: /</p>\n<a href='http://x/'>\n</body></html>", yes="/ /a"),
    Sheet(_for_barn("Disallow: /"), yes="/robots.txt"),
)

RFC: tuple[Case, ...] = tuple(case for sheet in _RFC_SHEETS for case in sheet.cases())
