"""The log of the log benchmark: lines in the manner of Heritrix, generated, the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_HOSTS = 6_000
_60_BITS = (1 << 60) - 1
_SYLLABLES = ("re", "hi", "ta", "lu", "mõ", "is", "ko", "va", "se", "pä", "rn", "jõ", "gi", "sa", "ar", "ku")
_ASCII = str.maketrans("õä", "oa")
_SECTIONS = ("uudised", "arhiiv", "avaandmed", "kontakt", "otsused", "koosolekud/protokollid", "ajalugu", "toimetus")
_IMAGES = (
    ("jpg", "image/jpeg"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("css", "text/css"),
    ("js", "application/javascript"),
)
_FILES = (("pdf", "application/pdf"), ("json", "application/json"), ("xml", "text/xml"), ("csv", "text/csv"))
_OWN_CODES = (-2, -4, -5, -50, -404, -5003, -9998)
_HTTP_CODES = (301, 302, 404, 404, 404, 500)


def write_log(path: Path, lines: int) -> None:
    """Write a crawl log of so many lines, always the same."""
    stream = generate(lines)
    with path.open("wb") as file:
        while batch := list(islice(stream, 10_000)):
            file.write(("\n".join(batch) + "\n").encode())


def generate(lines: int) -> Iterator[str]:
    """Lines as a national crawl has them: pages that come again, prerequisites, guesses, pictures, errors, a few slips."""
    hosts = [_host_name(number) for number in range(_HOSTS)]
    for number in range(lines):
        dice = _dice(number)
        # Squaring makes the first hosts large and the last small, as on the web.
        host = hosts[(dice % 65_536) ** 2 * _HOSTS >> 32]
        page = (dice >> 16) % max(lines // 3_000, 50)
        section = _SECTIONS[page % 8]
        yield _line(number, dice >> 32, host, f"http://{host}/{section}/{page}")


def _line(number: int, dice: int, host: str, stem: str) -> str:
    kind, dice = dice % 1000, dice // 1000
    home = f"http://{host}/"
    hops = "LLELLRELL"[: dice % 9] or "-"
    via = home if hops != "-" else "-"
    if kind < 430:
        return _columns(number, 200, f"{stem}.html", hops, via, "text/html")
    if kind < 730:
        extension, media = _IMAGES[dice % 5]
        return _columns(
            number, 200, f"{stem}/pilt-{dice % 4}.{extension}", f"{hops}E".strip("-"), f"{stem}.html", media
        )
    if kind < 800:
        return _columns(number, 200, f"{stem}?id={dice % 3}&keel=et", hops, via, "text/html;charset=utf-8")
    if kind < 830:
        extension, media = _FILES[dice % 4]
        return _columns(number, 200, f"{stem}.{extension}", hops, via, media)
    if kind < 880:
        return _columns(number, 404, f"{home}js/{dice % 50}/text", "LLX", f"{stem}.html", "text/html")
    if kind < 900:
        return _columns(number, 1, f"dns:{host}", "LP", f"{stem}.html", "text/dns")
    if kind < 920:
        return _columns(number, 200, f"{home}robots.txt", "LLP", f"{stem}.html", "text/plain")
    if kind < 980:
        return _columns(number, _HTTP_CODES[dice % 6], f"{stem}.html", hops, via, "text/html")
    if kind < 995:
        return _columns(number, _OWN_CODES[dice % 7], f"{stem}.html", hops, via, "unknown")
    if kind < 999:
        return _columns(number, 200, f"HTTP://{host.upper()}:80/a/../{dice % 99}#x", hops, via, "text/html")
    return "a line that was torn" if dice % 2 else ""


def _columns(number: int, status: int, uri: str, hops: str, via: str, media: str) -> str:
    seconds, size = number // 20 % 86_400, 500 + number * 7919 % 90_000
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return (
        f"2014-05-{1 + number // 1_728_000:02}T{clock}.{number % 1000:03}Z {status:5} {size:10} {uri} {hops} {via} {media} "
        f"#{number % 50:03} 201405{1 + number // 1_728_000:02}{clock.replace(':', '')}{number % 1000:03}+{size % 900} "
        f"sha1:{_dice(number + 1):016X}{_dice(number):016X} - ip:10.0.{number % 250}.7 "
        f'{{"contentSize":{size + 310},"scopeDecision":"ACCEPT"}}'
    )


def _dice(number: int) -> int:
    """60 bits that look random and are the same each time."""
    bits = (number + 11) * 0x5D3A96F1C42B8E7 & _60_BITS
    bits = (bits ^ bits >> 31) * 0x3B1F6E9D2A7C451 & _60_BITS
    return bits ^ bits >> 29


def _host_name(number: int) -> str:
    dice = _dice(number)
    word = "".join(_SYLLABLES[dice >> shift & 15] for shift in (0, 4, 8)).translate(_ASCII)
    return f"www.{word}{number}.ee"
