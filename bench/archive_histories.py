"""Histories: the versions of one resource in order, real ones and generated ones that are the same each time."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import sqrt
from pathlib import Path
from random import Random

MEGABYTES = 1_000  # of generated versions, unless told
FEWEST = 12  # versions of a generated history
_TYPES = {".csv": "text/csv", ".json": "application/json", ".html": "text/html; charset=utf-8", ".yaml": "text/yaml"}
_BEGIN = datetime(2024, 1, 1, 6, tzinfo=UTC)
_PLACES = ("Tallinn", "Tartu", "Narva", "Pärnu", "Viljandi", "Rakvere", "Kuressaare", "Võru", "Valga", "Haapsalu")
_WORDS = tuple(
    word
    for line in (
        "avaandmed register otsus protokoll volikogu hange leping toetus eelarve aruanne ehitusluba planeering detail",
        "kinnistu omavalitsus määrus taotlus menetlus ettevõte osaühing sihtasutus koosolek istung päevakord lisa",
        "kehtiv alates kuni muudetud lõpetatud avalik teade kirjeldus summa eurot kuupäev vastutav isik aadress",
    )
    for word in line.split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The versions of one resource, a file for each."""

    name: str
    group: str  # "real" or "generated"
    media_type: str
    versions: tuple[Path, ...]
    times: tuple[datetime, ...]
    size: int  # bytes of all versions together
    largest: int  # bytes of the largest


def real_histories(folder: Path, corpora: Path, *, most: int | None = None) -> list[History]:
    """The contents of 13-versions, unpacked into a folder; at most so many versions of each."""
    histories = []
    for packed in sorted((corpora / "13-versions" / "content").glob("*.tar.xz")):
        name = packed.name.removesuffix(".tar.xz")
        with tarfile.open(packed) as files:
            files.extractall(folder / name, filter="data")
        paths = sorted((folder / name).iterdir(), key=lambda path: int(path.name.partition("_")[0]))
        times = [datetime.fromtimestamp(int(path.name.partition("_")[0]), UTC) for path in paths]
        histories.append(_history(name.partition("__")[2], "real", paths[:most], times[:most]))
    return histories


def corpora_folder() -> Path:
    """Where the real histories are: ``REHI_CORPORA``, or beside the project."""
    return Path(os.environ.get("REHI_CORPORA", Path(__file__).resolve().parents[2] / "shared" / "corpora"))


@dataclass(frozen=True, slots=True)
class _HistoryPlan:
    """A history that is to be generated."""

    name: str
    make: Callable[[Random, int], Iterator[str]]
    size: int  # about the bytes of a version
    count: int


def generated_histories(folder: Path, megabytes: float = MEGABYTES) -> list[History]:
    """About so many MB of large files with the edits that such files get, written into a folder."""
    scale = sqrt(min(1.0, megabytes / MEGABYTES))
    histories = []
    for plan in _PLANS:
        random = Random(plan.name)  # noqa: S311 - not for secrets
        (folder / plan.name).mkdir(parents=True)
        paths, count = [], max(FEWEST, round(plan.count * scale))
        versions = plan.make(random, round(plan.size * scale))
        for number in range(count):
            paths.append(folder / plan.name / f"{number:05}_{plan.name}")
            paths[-1].write_text(next(versions), encoding="utf-8")
        histories.append(_history(plan.name, "generated", paths, [_at(number) for number in range(count)]))
    return histories


def _history(name: str, group: str, paths: list[Path], times: list[datetime]) -> History:
    sizes = [path.stat().st_size for path in paths]
    media_type = _TYPES.get(Path(name).suffix, "text/plain")
    return History(
        name=name,
        group=group,
        media_type=media_type,
        versions=tuple(paths),
        times=tuple(times),
        size=sum(sizes),
        largest=max(sizes),
    )


def _at(number: int) -> datetime:
    return _BEGIN + timedelta(days=number, seconds=number * 37 % 600)


def _sentence(random: Random, words: int) -> str:
    return " ".join(random.choices(_WORDS, k=words))


def _row(random: Random, key: int) -> str:
    day = _BEGIN.date() - timedelta(days=random.randrange(3_000))
    return (
        f"{key};{random.randrange(10**7, 10**8)};{_sentence(random, 3)};{random.choice(_PLACES)};"
        f"{random.randrange(10**6) / 100:.2f};{day};{random.choice(('kehtiv', 'lõpetatud', 'muudetud'))}"
    )


def _register(random: Random, size: int) -> Iterator[str]:
    """A register as CSV: rows are appended, cells change, now and then a row goes; it says when it was made."""
    rows = [_row(random, key) for key in range(size // 80)]
    key = len(rows)
    for number in range(10**9):
        for _ in range(max(1, len(rows) // 5_000)):
            rows[random.randrange(len(rows))] = _row(random, random.randrange(key))
        for _ in range(random.randrange(1, 2 + size // 200_000)):
            rows.append(_row(random, key))
            key += 1
        if number % 3 == 2:
            del rows[random.randrange(len(rows))]
        yield f"# seisuga {_at(number).isoformat()}\nid;kood;nimi;koht;summa;kuupäev;olek\n" + "\n".join(rows) + "\n"


def _prices(random: Random, size: int) -> Iterator[str]:
    """A price list as CSV: a number changes in every tenth row, each time."""
    names = [f"{key};{_sentence(random, 3)};{random.choice(_PLACES)}" for key in range(size // 55)]
    prices = [random.randrange(10**6) for _ in names]
    for number in range(10**9):
        for _ in range(len(prices) // 10):
            place = random.randrange(len(prices))
            prices[place] += random.randrange(-99, 100)
        day = f"{_at(number):%d.%m.%Y}"
        lines = (f"{name};{price / 100:.2f}" for name, price in zip(names, prices, strict=True))
        yield f"kood;nimi;koht;hind {day}\n" + "\n".join(lines) + "\n"


def _dump(random: Random, size: int) -> Iterator[str]:
    """An answer of an API as JSON: newest items first, values that change, and the time of the answer."""
    items = [_item(random, key) for key in range(size // 330)]
    key = len(items)
    for number in range(10**9):
        for _ in range(max(1, len(items) // 1_000)):
            place = random.randrange(len(items))
            items[place] = _item(random, random.randrange(key), number)
        for _ in range(random.randrange(4)):
            items.insert(0, _item(random, key, number))
            key += 1
        yield (
            f'{{"generated": "{_at(number).isoformat()}", "total": {len(items)}, "items": [\n'
            + ",\n".join(items)
            + "\n]}\n"
        )


def _item(random: Random, key: int, number: int = 0) -> str:
    return (
        f'  {{"id": {key}, "title": "{_sentence(random, 5)}", "place": "{random.choice(_PLACES)}", '
        f'"description": "{_sentence(random, 14)}", "amount": {random.randrange(10**6)}, '
        f'"position": [{random.uniform(21, 28):.5f}, {random.uniform(57, 60):.5f}], '
        f'"modified": "{(_at(number) - timedelta(minutes=random.randrange(9**6))).isoformat()}"}}'
    )


def _sections(random: Random, size: int) -> Iterator[str]:
    """The same as sections of a hundred items, which change places: one to three move, each time."""
    sections = [[_item(random, 100 * part + key) for key in range(100)] for part in range(max(4, size // 33_000))]
    for number in range(10**9):
        for _ in range(random.randrange(1, 4)):
            sections.insert(random.randrange(len(sections)), sections.pop(random.randrange(len(sections))))
        for _ in range(max(1, len(sections) // 10)):
            random.choice(sections)[random.randrange(100)] = _item(random, random.randrange(10**5), number)
        parts = (f'{{"items": [\n{",".join(items)}]}}' for items in sections)
        yield f'{{"generated": "{_at(number).isoformat()}", "sections": [\n' + ",\n".join(parts) + "]}\n"


def _page(random: Random, size: int) -> Iterator[str]:
    """A page of HTML: news come on top, blocks beside them change places, a token and the time differ each time."""
    news = [_article(random, key) for key in range(size // 700)]
    blocks = [f"<aside><h3>{_sentence(random, 3)}</h3><p>{_sentence(random, 40)}</p></aside>" for _ in range(12)]
    key = len(news)
    for number in range(10**9):
        for _ in range(random.randrange(1, 4)):
            news.insert(0, _article(random, key))
            news.pop()
            key += 1
        random.shuffle(blocks)
        token, stamp = random.randbytes(16).hex(), f"{_at(number):%d.%m.%Y %H:%M:%S}"
        yield (
            f'<!doctype html><html lang="et"><head><meta charset="utf-8"><meta name="csrf" content="{token}">'
            f'<title>Uudised</title><link rel="stylesheet" href="/style.css?v={number // 20}"></head>\n<body>'
            f"{''.join(blocks[:6])}\n<main>\n{chr(10).join(news)}\n</main>\n{''.join(blocks[6:])}\n"
            f"<footer>Leht loodud {stamp} {random.random():.4f} sekundiga</footer></body></html>\n"
        )


def _article(random: Random, key: int) -> str:
    day = f"{_BEGIN + timedelta(hours=key):%d.%m.%Y}"
    return (
        f'<article id="uudis-{key}"><h2><a href="/uudised/{key}">{_sentence(random, 6)}</a></h2>'
        f'<time>{day}</time><p class="lead">{_sentence(random, 30)}</p>'
        f'<p>{_sentence(random, 32)}</p><a class="more" href="/uudised/{key}#loe">Loe edasi</a></article>'
    )


_PLANS = (
    _HistoryPlan("register-small.csv", _register, 200_000, 220),
    _HistoryPlan("register.csv", _register, 1_000_000, 100),
    _HistoryPlan("register-large.csv", _register, 5_000_000, 40),
    _HistoryPlan("prices.csv", _prices, 1_500_000, 40),
    _HistoryPlan("dump.json", _dump, 800_000, 120),
    _HistoryPlan("dump-large.json", _dump, 4_500_000, 44),
    _HistoryPlan("sections.json", _sections, 2_500_000, 50),
    _HistoryPlan("page.html", _page, 300_000, 200),
    _HistoryPlan("page-large.html", _page, 900_000, 70),
)
